import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An answer on its way into an ``OfflineArchive``; what is held of its body counts against the archive's budget for
/// as long as this exists.
// Its load calls one method at a time, and then the archive's queue has it alone.
final class IncomingCopy: @unchecked Sendable {
    let response: HTTPURLResponse
    let request: URLRequest
    /// The moment at which the load began, for the ``RemovalLog``.
    let moment: Int
    private let archive: OfflineArchive
    private var held = 0
    private var refusal: OfflineArchive.Refusal?

    init(_ response: HTTPURLResponse, to request: URLRequest, since moment: Int, for archive: OfflineArchive) {
        (self.response, self.request, self.moment, self.archive) = (response, request, moment, archive)
        refusal = OfflineArchive.refusal(of: response)
    }

    deinit { archive.memory.release(held) }

    /// Makes room for another part of the body; false when the body will not be kept, and need not be held.
    func hasRoom(for count: Int) -> Bool {
        guard refusal == nil else { return false }
        let length = response.expectedContentLength
        guard length <= archive.memory.single, archive.memory.reserve(count, beside: held, isAnnounced: length >= 0)
        else {
            refuse(.length)
            return false
        }
        held += count
        return true
    }

    /// Gives the body up; the first reason counts.
    func refuse(_ reason: OfflineArchive.Refusal) {
        archive.memory.release(held)
        (held, refusal) = (0, refusal ?? reason)
    }

    /// Hands the whole answer to the archive, or counts why it is not kept.
    ///
    /// - Parameters:
    ///   - body: The whole body; nil when it is not there.
    ///   - last: The request at the end of all redirects, which may have cookies that the first had not.
    func end(_ body: Data?, after last: URLRequest) {
        guard archive.accepts(last) else { return archive.countRefusal(of: last) }
        // A body that was decoded has another length.
        let isEncoded = response.value(forHTTPHeaderField: "Content-Encoding") != nil
        let expected = response.value(forHTTPHeaderField: "Content-Length").flatMap { Int($0) }
        if let body, refusal == nil, isEncoded || expected ?? body.count == body.count {
            archive.keep(self, body)
        } else {
            archive.count(refusal ?? .length)
        }
    }
}

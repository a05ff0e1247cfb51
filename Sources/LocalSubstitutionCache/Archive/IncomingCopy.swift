import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A response that is being received for an ``OfflineArchive``.
///
/// The bytes of the body that have arrived count against the archive's memory budget. They count until the body is
/// refused or this object is deallocated.
// The load calls one method at a time. After the load has finished, only the archive's queue uses this object.
final class IncomingCopy: @unchecked Sendable {
    let response: HTTPURLResponse
    let request: URLRequest
    /// The count of removals when the load began, for ``RemovalLog/allows(_:since:)``.
    let moment: Int
    private let archive: OfflineArchive
    private var held = 0
    private var refusal: OfflineArchive.Refusal?

    init(_ response: HTTPURLResponse, to request: URLRequest, since moment: Int, for archive: OfflineArchive) {
        (self.response, self.request, self.moment, self.archive) = (response, request, moment, archive)
        refusal = OfflineArchive.refusal(of: response)
    }

    deinit { archive.memory.release(held) }

    /// Reserves memory for `count` more bytes of the body; returns false if the archive will not keep the body.
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

    /// Releases the body's memory and remembers why the body is not kept; a second reason is ignored.
    func refuse(_ reason: OfflineArchive.Refusal) {
        archive.memory.release(held)
        (held, refusal) = (0, refusal ?? reason)
    }

    /// Passes the response to the archive, or counts the reason why the response is not kept.
    ///
    /// Only the reasons in ``OfflineArchive/Refusal`` are counted.
    ///
    /// - Parameters:
    ///   - body: The whole body; nil if it is not available.
    ///   - last: The request after all redirects. It may have cookies that the first request did not have.
    func finish(_ body: Data?, after last: URLRequest) {
        guard archive.accepts(last) else { return archive.countRefusal(of: last) }
        // If there is a `Content-Encoding`, URL loading has decoded the body. Then its length differs from
        // `Content-Length`.
        let isEncoded = response.value(forHTTPHeaderField: "Content-Encoding") != nil
        let expected = response.value(forHTTPHeaderField: "Content-Length").flatMap { Int($0) }
        if let body, refusal == nil, isEncoded || expected ?? body.count == body.count {
            archive.store(self, body)
        } else {
            archive.recordRefusal(refusal ?? .length)
        }
    }
}

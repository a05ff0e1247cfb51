import Foundation
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A load whose response an ``OfflineArchive`` may keep.
///
/// The bytes of the body that have arrived count against the archive's memory budget. They count until the body is
/// refused or this object is deallocated.
// The load calls one method at a time. After the load has finished, only the archive's queue uses this object.
final class IncomingCopy: ArchivedLoad, @unchecked Sendable {
    let request: URLRequest
    /// The count of removals when the load began, for ``RemovalLog/allows(_:since:)``.
    let moment: Int
    /// The `$version` of the manifest when the load began.
    let version: Int64
    private let archive: OfflineArchive
    /// The head of the response; nil before it arrives, and if it is not HTTP.
    private(set) var response: HTTPURLResponse?
    private var held = 0
    private var refusal: OfflineArchive.Refusal?
    /// The last good copy, and the count of removals before it was read; nil if it has not been read.
    private var read: (copy: ArchivedCopy?, moment: Int)?
    private var isReading = false
    /// Guards ``read`` and ``isReading``: the end of the patience and an error may both ask for the copy.
    private let lock = NSLock()

    init(of request: URLRequest, since moment: Int, version: Int64, for archive: OfflineArchive) {
        (self.request, self.moment, self.version, self.archive) = (request, moment, version, archive)
    }

    deinit { archive.memory.release(held) }

    func copy(after outcome: NetworkOutcome) -> LastGoodCopy? {
        guard let read = lock.withLock({ read }) else { return archive.copy(for: request)?.answer(after: outcome) }
        return archive.allowsCopies(since: read.moment) ? read.copy?.answer(after: outcome) : nil
    }

    func readCopy(then body: @escaping @Sendable () -> Void) -> Bool {
        let (isRead, isFirst) = lock.withLock {
            defer { isReading = true }
            return (read != nil, !isReading)
        }
        if isRead { return false }
        archive.readingQueue.async { [self] in
            if isFirst {
                let moment = archive.lastRemoval
                let copy = archive.copy(for: request)
                lock.withLock { read = (copy, moment) }
            }
            body()
        }
        return true
    }

    func receive(_ response: URLResponse?) {
        guard self.response == nil, let response = response as? HTTPURLResponse else { return }
        self.response = response
        refusal = archive.refusal(of: response, to: request) ?? refusal
    }

    func hasRoom(for count: Int) -> Bool {
        guard refusal == nil, let length = response?.expectedContentLength else { return false }
        guard length <= archive.memory.single, archive.memory.reserve(count, beside: held, isAnnounced: length >= 0)
        else {
            refuse(.length)
            return false
        }
        held += count
        return true
    }

    func refuse(_ reason: MissingBody) {
        switch reason {
        case .incomplete: refuse(.length)
        case .unseen: refuse(OfflineArchive.Refusal.unseen)
        case .personal: if !archive.mayKeepCredentials(of: request.url) { refuse(.credentials) }
        }
    }

    private func refuse(_ reason: OfflineArchive.Refusal) {
        archive.memory.release(held)
        (held, refusal) = (0, refusal ?? reason)
    }

    func finish(_ body: Data?, after last: URLRequest) {
        guard let response else { return }
        guard archive.accepts(last) else { return archive.countRefusal(of: last) }
        // If there is a `Content-Encoding`, URL loading has decoded the body. Then its length differs from
        // `Content-Length`, and only a body of nothing shows that URL loading could not decode it.
        let isEncoded = response.value(forHTTPHeaderField: "Content-Encoding") != nil
        let length = response.value(forHTTPHeaderField: "Content-Length")
        if let body, refusal == nil, isEncoded ? !body.isEmpty : length.map({ Int($0) == body.count }) ?? true {
            archive.store(response, body, of: self)
        } else {
            archive.recordRefusal(refusal ?? .length)
        }
    }

    func countUnseen() { archive.recordRefusal(.unseen) }
}

import Foundation
import LocalSubstitutionCache
import SubstitutionRules

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
    /// The count of removals when the load began.
    let moment: Int
    /// The `$version` of the manifest when the load began.
    let version: Int64
    private let archive: OfflineArchive
    private var rule: SharedCopyRule
    /// The head of the response; nil before it arrives, and if it is not HTTP.
    private var response: HTTPURLResponse?
    private var held = 0
    /// The reason why the response is not kept; nil for none so far.
    private(set) var refusal: OfflineArchive.Refusal?
    /// The last good copy, and the count of removals before it was read; nil if it has not been read.
    private let read = Locked<(copy: ArchivedCopy?, moment: Int)?>(nil)

    /// - Parameters:
    ///   - request: The request with the fields of its session.
    ///   - version: The `$version` of the manifest.
    ///   - archive: The archive, which names the request's host.
    init(of request: URLRequest, version: Int64, for archive: OfflineArchive) {
        (self.request, moment, self.version, self.archive) = (request, archive.directory.moment, version, archive)
        rule = SharedCopyRule(isOfUser: archive.keepsAsUser(request.url))
        ask(request)
    }

    deinit { archive.release(held) }

    // MARK: - The copy to replay

    func copy(after outcome: NetworkOutcome) -> LastGoodCopy? {
        if read.value == nil { archive.directory.queue.sync { readCopy() } }
        guard let read = read.value, archive.directory.allowsCopies(since: read.moment) else { return nil }
        return read.copy?.answer(after: outcome)
    }

    func readCopy(then body: @escaping @Sendable () -> Void) -> Bool {
        if read.value != nil { return false }
        archive.directory.queue.async { [self] in
            readCopy()
            body()
        }
        return true
    }

    /// Reads the copy, unless it has been read; called on the archive's queue.
    private func readCopy() {
        guard read.value == nil else { return }
        let moment = archive.directory.moment
        let copy = archive.copy(for: request)
        read.withLock { $0 = (copy, moment) }
    }

    // MARK: - The response to keep

    private func ask(_ request: URLRequest) {
        rule.ask(request)
        judge()
    }

    /// Sets the refusal if something speaks against the response.
    private func judge() {
        let isRequest = rule.ofRequest != nil
        if let objection = rule.objection { refuse(OfflineArchive.Refusal(objection, ofRequest: isRequest)) }
    }

    func redirect(_ response: HTTPURLResponse?, to next: URLRequest) {
        guard let response else { return refuse(OfflineArchive.Refusal.unseen) }
        rule.receive(nil, response.value(forHTTPHeaderField:))
        judge()
        // What the app allows for the first host, it may not allow for the next.
        if !archive.isNamed(next.url) || archive.keepsAsUser(request.url) && !archive.keepsAsUser(next.url) {
            refuse(.redirect)
        }
        ask(next)
    }

    func receive(_ response: URLResponse?) {
        guard self.response == nil, let response = response as? HTTPURLResponse else { return }
        self.response = response
        rule.receive(response.statusCode, response.value(forHTTPHeaderField:))
        judge()
        if response.expectedContentLength > archive.folder.capacity { refuse(.length) }
        if SharedCopyRule.varies(response.value(forHTTPHeaderField: "Vary")) { refuse(.responseField("Vary")) }
    }

    func hasRoom(for count: Int) -> Bool {
        guard refusal == nil, response != nil else { return false }
        if archive.reserve(count) { held += count } else { refuse(.length) }
        return refusal == nil
    }

    func refuse(_ reason: MissingBody) {
        if reason != .challenged { return refuse(reason == .unseen ? OfflineArchive.Refusal.unseen : .length) }
        rule.challenge()
        judge()
    }

    private func refuse(_ reason: OfflineArchive.Refusal) {
        archive.release(held)
        (held, refusal) = (0, refusal ?? reason)
    }

    func finish(_ body: Data?) {
        guard let response else { return }
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

extension OfflineArchive.Refusal {
    fileprivate init(_ objection: SharedCopyRule.Objection, ofRequest: Bool) {
        self =
            switch objection {
            case .field(let name): ofRequest ? .requestField(name) : .responseField(name)
            case .method: .redirect
            case .challenge: .challenge
            case .status: .status
            }
    }
}

extension ArchivedCopy {
    /// Returns the copy with the response to replay.
    func answer(after outcome: NetworkOutcome) -> LastGoodCopy? {
        var fields = fields
        let own = CacheStatus.forwarded(outcome, detail: "copy of \(date.formatted(.iso8601))")
        // RFC 9211 §2: each cache that handles a response appends its own member to the field.
        let name = fields.keys.first { $0.lowercased() == "cache-status" } ?? "Cache-Status"
        fields[name] = fields[name].map { "\($0), \(own)" } ?? own
        guard let url = URL(string: responseURL),
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
        else { return nil }
        return (CachedURLResponse(response: response, data: body), date, version)
    }
}

import Foundation
import LocalSubstitutionCache
import SubstitutionRules

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server that answers web engines' requests for mirrors with the files of a cache.
///
/// `substitution-https://host/path` is the mirror of `https://host/path`. Pages of two kinds request mirrors. A real
/// page has its own http or https origin, and the rules of a web extension redirect its requests to mirrors. A mirror
/// page was itself loaded from a mirror, so its relative addresses lead to mirrors.
///
/// A request selects a row of the cache's table. No part of the request becomes a file path.
// URLCache is thread-safe, but Foundation on Linux does not declare it Sendable.
struct SchemeServer: @unchecked Sendable {
    let cache: SubstitutionCache
    /// Loads unmapped URLs from the network; nil if the app has not enabled this.
    ///
    /// A URL is unmapped if no file of the app answers it.
    let forwarder: Forwarder?
    private let promises = PromisedResources()

    /// - Parameters:
    ///   - cache: The cache whose files answer.
    ///   - hosts: The hosts whose unmapped URLs are loaded from the network, each as `host`, `host:port` or a URL.
    ///   - archive: The archive that keeps the network's responses, and replays them without a connection.
    init(
        _ cache: SubstitutionCache,
        forwardingTo hosts: Set<String> = [],
        archive: (any ResponseArchive)? = nil
    ) {
        self.cache = cache
        forwarder = hosts.isEmpty ? nil : Forwarder(to: hosts, archive)
    }

    /// Returns the answer to a request.
    ///
    /// The answer is never a redirect or a 304: on an app's custom scheme, engines accept neither. If a request is
    /// refused, the load does not fail. Instead, the answer is a text with the reason, which the page then shows to a
    /// user or developer.
    ///
    /// - Parameters:
    ///   - request: The request as the engine passes it on, with the mirror's URL.
    ///   - cookies: Returns the view's cookies, or nil for none. It is only called if cookies are sent to the network.
    /// - Returns: A file with 200 or 206, the network's response, or a refusal with one of these statuses:
    ///   - 403: mixed content, or a request that this page may not send to a host that the app has named;
    ///   - 404: a URL that is not a mirror, or an unmapped URL on a host that the app has not named;
    ///   - 405: a mapped URL, and a method other than GET and HEAD;
    ///   - 413: a request body that is unreadable or too long;
    ///   - 416: a range outside the file;
    ///   - 502: a redirect that is not followed.
    func reply(
        to request: URLRequest,
        cookies: @escaping @Sendable () async -> PageCookies? = { nil }
    ) -> SchemeReply {
        guard let url = request.url, let original = MirrorURL.original(of: url) else {
            return refusal(404, "This is not a mirror of an http or https URL.", to: request)
        }
        forwarder?.note(request)
        let asked = Self.originalRequest(original, by: request)
        let target = WebOrigin(original)
        if let row = cache.decision(on: asked).file?.row {
            // On a real page, the engine itself checks for mixed content, before a rule redirects the request.
            let isMirrorPage = WebOrigin(request.mainDocumentURL)?.isMirror == true
            guard isMirrorPage, let target, ForwardingGuard.isMixedContent(request, of: target) else {
                return file(row, for: asked, to: request)
            }
            return refusal(403, "It is not shown in this page, because \(ForwardingGuard.mixedContent).", to: request)
        }
        var problem: String?
        if let forwarder, let target, forwarder.guardian.isNamed(target) {
            switch forwarder.guardian.decision(on: request, to: target, isMapped: isMappedHost) {
            case .allowed(.none): return forwarder.reply(to: request, original, asOtherSite: true, nil, self)
            case .allowed(let allowed):
                return SchemeReply { [self] in
                    var cookies = await cookies()
                    cookies?.isFromElsewhere = allowed == .fromElsewhere
                    guard let whole = await ForwardedHead.withBody(request) else {
                        let most = ForwardedHead.longestBody >> 20
                        return refusal(413, "Its body cannot be read, or is longer than \(most) MB.", to: request)
                    }
                    if Task.isCancelled { return SchemeReply(failure: CancellationError()) }
                    return forwarder.reply(to: whole, original, asOtherSite: false, cookies, self)
                }
            case .refused(let reason): problem = reason
            }
        }
        if let observers = cache.observers {
            let load = RefusedLoad()
            observers.observe(.asked, of: asked, by: load)
            observers.observe(.ended(nil), of: asked, by: load)
        }
        let reason = reason(asked)
        if asked.fileMethod == nil, isMapped(original) {
            return refusal(405, reason, to: request, ["Allow": "GET, HEAD"])
        }
        guard let problem else { return refusal(404, reason, to: request) }
        let refused = "\(reason) It is not loaded from the network for this page, because \(problem)."
        return refusal(403, refused, to: request)
    }

    /// Returns the reason why no file answers a request, as a sentence.
    private func reason(_ asked: URLRequest) -> String {
        let url = visible(asked.url?.absoluteString ?? "")
        switch cache.decision(on: asked) {
        case .networkFirst(let match):
            let sentence = match.row.substitution.conditions.sentence
            return "\(url) is loaded from the network; a file answers instead when \(sentence)."
        case .leftAlone(_, because: let reason):
            return "\(url) is not substituted, because \(reason.clause(asked.httpMethod ?? ""))"
        case .file, .unnamed:
            return "\(url) is not substituted, because no entry names it; substitute explain names the nearest."
        }
    }

    // MARK: - Files

    /// Returns the file for a redirect's target, an http or https URL; nil if no file answers the target.
    func file(at url: URL, for request: URLRequest) -> SchemeReply? {
        let asked = Self.originalRequest(url, by: request)
        return (cache.decision(on: asked).file?.row).map { file($0, for: asked, to: request) }
    }

    /// Returns true if a file answers this http or https URL, and the network is not asked first.
    func isMapped(_ url: URL) -> Bool { cache.decision(on: URLRequest(url: url)).isSubstituted }

    private func isMappedHost(_ authority: String) -> Bool {
        cache.substitutions.contains { $0.addresses.contains { $0.authority == authority } }
    }

    /// Returns a page or stylesheet with its addresses rewritten to mirrors; nil if nothing changes.
    func rewritten(_ body: Data, _ type: MediaType, at original: URL, policy: String?) -> Data? {
        let rewriter = PageRewriter(
            url: original,
            isMapped: { URL(string: $0).map(isMapped) ?? false },
            isForwarded: { forwarder?.guardian.isNamed($0) ?? false },
            isMappedPrefix: { prefix in cache.substitutions.contains { $0.isBelow(prefix) } }
        )
        let result = rewriter.rewritten(body, type, policy: policy)
        promises.add(result.promised)
        return result.body
    }

    /// Returns true if the body of an answer of this type is rewritten.
    ///
    /// Pages and stylesheets are rewritten for mirror pages. The exception is a stylesheet of a `link` with
    /// `integrity`, which has a hash of the bytes.
    func isRewritten(_ type: MediaType, for request: URLRequest) -> Bool {
        guard type.isRewritten, WebOrigin(request.mainDocumentURL)?.isMirror == true else { return false }
        // Look up the request's URL: after a redirect, the answer may have a different URL.
        let isPromised =
            type.essence == "text/css" && request.url.flatMap(MirrorURL.original).map(promises.contains) == true
        return !isPromised
    }

    /// Returns the request for the original URL of a mirror.
    ///
    /// The engine's cache policy is left out. With that policy, no file would answer when a page is reloaded.
    private static func originalRequest(_ original: URL, by request: URLRequest) -> URLRequest {
        var asked = URLRequest(url: original)
        asked.httpMethod = request.httpMethod
        asked.allHTTPHeaderFields = request.allHTTPHeaderFields
        return asked
    }

    private func file(_ row: Row, for asked: URLRequest, to request: URLRequest) -> SchemeReply {
        let substitution = row.substitution
        let type = substitution.type
        if let url = asked.url, isRewritten(type, for: request) {
            var whole = asked
            whole.setValue(nil, forHTTPHeaderField: "Range")
            whole.httpMethod = "GET"
            let answer = row.exactly(for: whole)
            let policy = answer.fields.first { $0.key.lowercased() == "content-security-policy" }?.value
            let make: @Sendable () -> SchemeReply = { [self] in
                var answer = answer
                if let rewritten = rewritten(answer.data, type, at: url, policy: policy) {
                    answer.data = asked.fileMethod == .head ? Data() : rewritten
                    answer.fields["Content-Length"] = String(rewritten.count)
                    answer.fields["ETag"] = nil
                    answer.fields["Accept-Ranges"] = nil
                } else {
                    answer = row.exactly(for: asked)
                }
                return fileReply(answer, of: substitution, for: asked, to: request)
            }
            return answer.data.count > SchemeReply.maximumImmediateSize ? SchemeReply(later: make) : make()
        }
        return fileReply(row.exactly(for: asked), of: substitution, for: asked, to: request)
    }

    private func fileReply(
        _ answer: Row.ResponseParts,
        of file: Substitution,
        for asked: URLRequest,
        to request: URLRequest
    ) -> SchemeReply {
        var fields = answer.fields
        // Engines keep the answers of a custom scheme as long as the page's process lives, whatever "max-age" says.
        // With "no-cache" they send the request again. So after the cache's `reload()`, they receive the new files.
        fields["Cache-Control"] = "no-cache"
        let added = Set(file.entry.headers.keys.map { $0.lowercased() })
        if !added.contains("cross-origin-resource-policy") { fields["Cross-Origin-Resource-Policy"] = "cross-origin" }
        // An "Access-Control-Allow-Origin" of the manifest stays unchanged. If there is none, name the origin: engines
        // refuse "*" for requests with credentials (Fetch §3.3.4). Any origin may read the bytes, because they are not
        // secret: every user of the app has them.
        if !added.contains("access-control-allow-origin"), let origin = Self.pageOrigin(request) {
            fields["Access-Control-Allow-Origin"] = origin
            fields["Access-Control-Allow-Credentials"] = "true"
        }
        return reply(answer.status, fields, answer.data, to: request) { head in
            cache.observers?.observe(.answered(head, byteCount: answer.data.count, from: file), of: asked, by: nil)
        }
    }

    /// Returns the origin of the page that sends the request; nil if the page has none.
    ///
    /// Without an `Origin` field, this is the origin of the page in the view: requests within that origin do not have
    /// the field.
    private static func pageOrigin(_ request: URLRequest) -> String? {
        if let origin = request.value(forHTTPHeaderField: "Origin") { return WebOrigin(origin).map { _ in origin } }
        return WebOrigin(request.mainDocumentURL)?.text
    }

    // MARK: - Everything else

    /// Returns a reply with the reason for a refusal as text.
    ///
    /// The reason is a sentence for users and developers. Pages of another origin cannot read it.
    func refusal(
        _ status: Int,
        _ reason: String,
        to request: URLRequest,
        _ more: [String: String] = [:]
    ) -> SchemeReply {
        text(status, reason + "\n", "text/plain; charset=utf-8", more, to: request)
    }

    /// Returns a page whose script navigates to `url`.
    ///
    /// It is used instead of a redirect, because engines follow no redirects on a custom scheme.
    ///
    /// The sandbox gives this page a unique origin. So if a second page shows this page in a frame, the second page
    /// cannot read the target's URL.
    func page(leadingTo url: URL, for request: URLRequest) -> SchemeReply {
        let address = ["\"": "%22", "<": "%3C", "\\": "%5C"].reduce(url.absoluteString) {
            $0.replacingOccurrences(of: $1.key, with: $1.value)
        }
        // A target without a fragment inherits the fragment of the current address (RFC 9110 §10.2.2).
        let fragment = url.fragment == nil ? " + location.hash" : ""
        let page = "<!DOCTYPE html><title></title><script>location.replace(\"\(address)\"\(fragment))</script>\n"
        let sandbox = ["Content-Security-Policy": "sandbox allow-scripts"]
        return text(200, page, "text/html; charset=utf-8", sandbox, to: request)
    }

    private func text(
        _ status: Int,
        _ text: String,
        _ type: String,
        _ more: [String: String],
        to request: URLRequest
    ) -> SchemeReply {
        let data = Data(text.utf8)
        var fields = ["Content-Type": type, "Content-Length": String(data.count), "Cache-Control": "no-store"]
        fields.merge(more) { $1 }
        return reply(status, fields, request.fileMethod == .head ? Data() : data, to: request)
    }

    private func reply(
        _ status: Int,
        _ fields: [String: String],
        _ data: Data,
        to request: URLRequest,
        note: (HTTPURLResponse) -> Void = { _ in }
    ) -> SchemeReply {
        var fields = fields
        // Every answer needs the policy, because any answer may become a document: a page may show even a refusal in a
        // frame.
        if let site = request.url.flatMap(MirrorURL.original).flatMap({ WebOrigin($0) }) {
            ContentPolicy.translate(&fields, for: site)
        }
        let url = Self.address(of: request)
        let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
        guard let head else { return SchemeReply(failure: URLError(.cannotParseResponse)) }
        note(head)
        return SchemeReply(head, data)
    }

    /// Returns the URL of an answer, against which the page resolves relative addresses in the answer.
    ///
    /// For a real page this is the original URL, so the addresses lead to the same URLs as without this library. For a
    /// mirror page it is the mirror, so the addresses lead to mirrors.
    private static func address(of request: URLRequest) -> URL {
        let url = request.url ?? URL(fileURLWithPath: "/")
        let isMirrorPage = WebOrigin(request.mainDocumentURL)?.isMirror ?? true
        return isMirrorPage ? url : MirrorURL.original(of: url) ?? url
    }
}

extension Row {
    /// Returns exactly the requested range, or a 416 if the file does not hold the range.
    ///
    /// This is for clients that never append the range to bytes from another source.
    ///
    /// - Returns: A 200, 206 or 416 (RFC 9110 §15.5.17), with its header fields and bytes.
    fileprivate func exactly(for request: URLRequest) -> ResponseParts {
        if request.fileMethod == .head { return whole(isHead: true) }
        switch range(of: request) {
        case .whole: return whole()
        case .part(let range): return part(range)
        case .unsatisfiable:
            var answer = whole()
            answer.status = 416
            answer.fields["Content-Range"] = "bytes */\(answer.data.count)"
            answer.fields["Content-Length"] = "0"
            answer.data = Data()
            return answer
        }
    }
}

/// An object by which the cache's observers recognise one refused request.
private final class RefusedLoad: Sendable {}

/// The URLs whose bytes must stay unchanged, because a page has a hash of them in an `integrity` attribute.
private final class PromisedResources: @unchecked Sendable {
    /// The maximum number of URLs; later ones are ignored.
    private static let most = 10_000

    private let lock = NSLock()
    private var identities: Set<URLIdentity> = []

    func add(_ urls: [URL]) {
        let added = urls.prefix(Self.most).compactMap { try? URLIdentity($0.absoluteString) }
        if added.isEmpty { return }
        lock.withLock {
            for identity in added where identities.count < Self.most { identities.insert(identity) }
        }
    }

    func contains(_ url: URL) -> Bool {
        guard let identity = try? URLIdentity(url.absoluteString) else { return false }
        return lock.withLock { identities.contains(identity) }
    }
}

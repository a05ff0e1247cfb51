import Foundation
import LocalSubstitutionCache
import SubstitutionRules

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers what engines ask for under the schemes of mirrors, with the rows of a cache's table.
///
/// A real page asks here because a rule has led it here, a mirror page because its references do. A request only picks
/// a row: no part of it becomes a path.
// URLCache is safe to share, which Linux's Foundation does not declare.
struct SchemeServer: @unchecked Sendable {
    let cache: LocalSubstitutionCache
    /// Loads what is not mapped; nil where the app has not switched that on.
    let forwarder: Forwarder?
    private let promises = PromisedResources()

    /// - Parameters:
    ///   - cache: What is mapped.
    ///   - hosts: `host` or `host:port` of each site from which is loaded what is not mapped.
    init(_ cache: LocalSubstitutionCache, forwardingTo hosts: Set<String> = []) {
        self.cache = cache
        forwarder = hosts.isEmpty ? nil : Forwarder(to: hosts)
    }

    /// Returns the answer to a request.
    ///
    /// Never a redirect and never a 304, which engines do not follow on schemes of an app. What is refused is an
    /// answer, too: a page that shows the reason has a reader, and a failed load has none.
    ///
    /// - Parameters:
    ///   - request: As the engine hands it over, with the mirror's URL.
    ///   - cookies: Those of the view, asked for only where they go along to the network; nil for none.
    /// - Returns: 200 or 206 with the file, 416 for a range that it does not have, 405 for methods other than GET and
    ///   HEAD, 404 with the reason as text where nothing is mapped. Where the app has named the host, what the network
    ///   answers to what is not mapped, 403 for pages that may not ask, and 502 for redirects that lead astray.
    func reply(
        to request: URLRequest,
        cookies: @escaping @Sendable () async -> PageCookies? = { nil }
    ) -> SchemeReply {
        guard let url = request.url, let original = MirrorURL.original(of: url) else {
            return refusal(404, "This is no mirror of a URL of http or https.", to: request)
        }
        forwarder?.note(request)
        let asked = Self.asked(original, by: request)
        let target = WebOrigin(original)
        if let representation = cache.representation(for: asked) {
            // For a real page the browser has judged mixed content before a rule led here.
            let isMirrorPage = WebOrigin(request.mainDocumentURL)?.isMirror == true
            guard isMirrorPage, let target, ForwardingGuard.isMixedContent(request, of: target) else {
                return file(representation, for: asked, to: request)
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
        if let observer = cache.observer {
            let load = RefusedLoad()
            observer.observe(.asked, of: asked, by: load)
            observer.observe(.ended(nil), of: asked, by: load)
        }
        let reason = cache.explain(asked).description
        if asked.fileMethod == nil, isMapped(original) {
            return refusal(405, reason, to: request, ["Allow": "GET, HEAD"])
        }
        guard let problem else { return refusal(404, reason, to: request) }
        let refused = "\(reason) It is not loaded from the network for this page, because \(problem)."
        return refusal(403, refused, to: request)
    }

    // MARK: - Files

    /// The file of an http or https URL, as the answer to a request that was led there; nil when none answers.
    func file(at url: URL, for request: URLRequest) -> SchemeReply? {
        let asked = Self.asked(url, by: request)
        return cache.representation(for: asked).map { file($0, for: asked, to: request) }
    }

    /// Returns whether a file answers this http or https URL without asking the network.
    func isMapped(_ url: URL) -> Bool { cache.isSubstituted(URLRequest(url: url)) }

    private func isMappedHost(_ authority: String) -> Bool {
        cache.substitutions.contains { $0.addresses.contains { $0.authority == authority } }
    }

    /// The page or stylesheet at this URL with mirrors written into it; nil where none is.
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

    /// Returns whether this answer is rewritten: pages and stylesheets of mirror pages are, unless a link has promised
    /// their bytes.
    func isRewritten(_ type: MediaType, for request: URLRequest) -> Bool {
        guard type.isRewritten, WebOrigin(request.mainDocumentURL)?.isMirror == true else { return false }
        // What answers may lie elsewhere, behind a redirect.
        let isPromised =
            type.essence == "text/css" && request.url.flatMap(MirrorURL.original).map(promises.contains) == true
        return !isPromised
    }

    /// The request for the original, without its policy: a page that is loaded again still means the app's files.
    private static func asked(_ original: URL, by request: URLRequest) -> URLRequest {
        var asked = URLRequest(url: original)
        asked.httpMethod = request.httpMethod
        asked.allHTTPHeaderFields = request.allHTTPHeaderFields
        return asked
    }

    private func file(_ representation: Representation, for asked: URLRequest, to request: URLRequest) -> SchemeReply {
        let substitution = representation.substitution
        let type = substitution.mediaType
        if let url = asked.url, isRewritten(type, for: request) {
            var whole = asked
            whole.setValue(nil, forHTTPHeaderField: "Range")
            whole.httpMethod = "GET"
            let answer = representation.exactly(for: whole)
            let policy = answer.fields.first { $0.key.lowercased() == "content-security-policy" }?.value
            let make: @Sendable () -> SchemeReply = { [self] in
                var answer = answer
                if let rewritten = rewritten(answer.data, type, at: url, policy: policy) {
                    answer.data = asked.fileMethod == .head ? Data() : rewritten
                    answer.fields["Content-Length"] = String(rewritten.count)
                    answer.fields["ETag"] = nil
                    answer.fields["Accept-Ranges"] = nil
                } else {
                    answer = representation.exactly(for: asked)
                }
                return tell(answer, of: substitution, for: asked, to: request)
            }
            return answer.data.count > SchemeReply.longestImmediate ? SchemeReply(later: make) : make()
        }
        return tell(representation.exactly(for: asked), of: substitution, for: asked, to: request)
    }

    private func tell(
        _ answer: Representation.Answer,
        of file: Substitution,
        for asked: URLRequest,
        to request: URLRequest
    ) -> SchemeReply {
        var fields = answer.fields
        // Engines keep what a scheme answers as long as the page's process lives, whatever "max-age" says; only this
        // makes them ask again, so that `reload()` is seen.
        fields["Cache-Control"] = "no-cache"
        let added = Set(file.entry.headers.keys.map { $0.lowercased() })
        if !added.contains("cross-origin-resource-policy") { fields["Cross-Origin-Resource-Policy"] = "cross-origin" }
        // What the manifest says of sharing stands. Else "*" is refused to requests with credentials (Fetch §3.3.4),
        // and naming the origin is not; bytes that everybody has from the app are no secret.
        if !added.contains("access-control-allow-origin"), let origin = Self.asker(request) {
            fields["Access-Control-Allow-Origin"] = origin
            fields["Access-Control-Allow-Credentials"] = "true"
        }
        return reply(answer.status, fields, answer.data, to: request) { head in
            cache.observer?.observe(.answered(head, byteCount: answer.data.count), of: asked, by: nil)
        }
    }

    /// The origin that asks: that of `Origin`, or else of the page, since requests to the page's own origin do not name
    /// it; nil for pages without an origin.
    private static func asker(_ request: URLRequest) -> String? {
        if let origin = request.value(forHTTPHeaderField: "Origin") { return WebOrigin(origin).map { _ in origin } }
        return WebOrigin(request.mainDocumentURL)?.text
    }

    // MARK: - Everything else

    /// A sentence for whoever looks for the reason; no page of another origin can read it.
    func refusal(
        _ status: Int,
        _ reason: String,
        to request: URLRequest,
        _ more: [String: String] = [:]
    ) -> SchemeReply {
        text(status, reason + "\n", "text/plain; charset=utf-8", more, to: request)
    }

    /// A page that leads to another: engines follow no redirects of a scheme.
    ///
    /// Its sandbox gives it an origin of its own, so that no page around it reads where it leads.
    func page(leadingTo url: URL, for request: URLRequest) -> SchemeReply {
        let address = ["\"": "%22", "<": "%3C", "\\": "%5C"].reduce(url.absoluteString) {
            $0.replacingOccurrences(of: $1.key, with: $1.value)
        }
        // RFC 9110 §10.2.2: without a fragment of its own the target inherits that of the address.
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
        // Every answer may become a document, whichever page is at the top: also a refusal, in a frame.
        if let site = request.url.flatMap(MirrorURL.original).flatMap({ WebOrigin($0) }) {
            ContentPolicy.translate(&fields, for: site)
        }
        let url = Self.address(of: request)
        let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
        guard let head else { return SchemeReply(failure: URLError(.cannotParseResponse)) }
        note(head)
        return SchemeReply(head, data)
    }

    /// The URL that a page sees as that of the answer.
    ///
    /// In a real page it is the original, so that relative references in what answers lead where they always led. In a
    /// mirror page it is the mirror, so that they lead here.
    private static func address(of request: URLRequest) -> URL {
        let url = request.url ?? URL(fileURLWithPath: "/")
        let isMirrorPage = WebOrigin(request.mainDocumentURL)?.isMirror ?? true
        return isMirrorPage ? url : MirrorURL.original(of: url) ?? url
    }
}

/// Stands for one request of a page that gets a reason instead of an answer.
private final class RefusedLoad: Sendable {}

/// The URLs that pages have named with `integrity`, whose bytes stay as they are.
private final class PromisedResources: @unchecked Sendable {
    /// The number of URLs that are remembered; later ones are not.
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

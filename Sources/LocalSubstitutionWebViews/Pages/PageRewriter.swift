import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// Rewrites the absolute addresses in a mirror page or its stylesheets to mirrors, if the app has files for them.
///
/// The mirror of `https://host/path` is `substitution-https://host/path`. A relative address in a mirror page already
/// resolves to a mirror. It is rewritten only if an engine parses it differently in a mirror page than in an http or
/// https page (``WebAddress``).
///
/// Some addresses change even if no file answers them. Where browsers upgrade http to https, the address becomes https.
/// If the page's base URL is a mirror, `//host/path` leads to a mirror, too. If this library does not answer requests
/// for that mirror, the address gets the scheme of the original page. A base URL on the page's own site becomes its
/// mirror.
///
/// Import maps (``ImportMap``) and content security policies (``ContentPolicy``) are rewritten, too. Everything else
/// stays byte for byte the same, including the encoding and quotation marks.
struct PageRewriter: Sendable {
    /// The original URL of the page or stylesheet, not its mirror.
    let url: URL
    /// Returns true if a file of the app answers this http or https URL.
    let isMapped: @Sendable (String) -> Bool
    /// Returns true if the library loads this site's unmapped URLs from the network.
    let isForwarded: @Sendable (WebOrigin) -> Bool
    /// Returns true if a file of the app answers any URL with this prefix.
    var isMappedPrefix: @Sendable (String) -> Bool = { _ in false }

    /// The result of rewriting one body.
    struct Result {
        /// The rewritten body; nil if nothing changes.
        var body: Data?
        /// The URLs of `link` elements with `integrity`.
        ///
        /// The attribute has a hash of the bytes at the URL, so these bytes must not be changed.
        var promised: [URL] = []
    }

    /// The base URL of a page.
    struct Base {
        let url: URL
        let scheme: String
        /// True if an engine resolves relative addresses against the mirror of this URL.
        let isMirror: Bool
    }

    /// Rewrites the addresses in a body to mirrors.
    ///
    /// - Parameters:
    ///   - body: A whole page or stylesheet.
    ///   - type: The media type of the body. Types other than `text/html` and `text/css` are left unchanged, and so are
    ///     bodies in UTF-16 and UTF-32.
    ///   - policy: The content security policy in the response's header fields.
    /// - Returns: The new body, and the URLs of resources whose content must not be changed.
    ///
    /// Cost: one pass over the bytes, and one lookup for each absolute address.
    func rewritten(_ body: Data, _ type: MediaType, policy: String? = nil) -> Result {
        var result = Result()
        guard type.isRewritten,
            type.description.range(of: "charset=\"?utf-(16|32)", options: [.regularExpression, .caseInsensitive])
                == nil,
            !body.starts(with: [0xFE, 0xFF]), !body.starts(with: [0xFF, 0xFE]),
            let origin = WebOrigin(url)
        else { return result }
        let page = Base(url: url, scheme: origin.isSecure ? "https" : "http", isMirror: true)
        let bytes = Array(body)
        var edits: [PageEdit] = []
        if type.essence == "text/css" {
            edits = ReferenceScanner.references(inStylesheet: bytes).compactMap { edit(of: $0, from: page) }
        } else {
            let references = PageScanner.references(in: bytes)
            let base = base(references, page, origin)
            edits = references.addresses.compactMap { edit(of: $0, from: base) }
            edits += references.promised.compactMap { edit(of: $0, from: base, isPromised: true) }
            let policies = [policy ?? ""] + references.policies.map(\.string)
            // A policy may allow styles and scripts by their hashes. An engine would then refuse rewritten styles and
            // import maps.
            if !policies.contains(where: { $0.lowercased().contains("'sha") }) {
                edits += references.styles.compactMap { edit(of: $0, from: base) }
                edits += importMapEdits(references, base, bytes)
            }
            edits += references.bases.compactMap { baseEdit(of: $0, page, origin) }
            edits += references.policies.flatMap { policyEdits(of: $0, origin) }
            result.promised = references.promisedLinks.compactMap { resolved($0, base) }
        }
        if !edits.isEmpty { result.body = PageEdit.apply(edits, to: bytes) }
        return result
    }

    // MARK: - Addresses

    /// Returns an address as it must be spelled in the mirror page.
    ///
    /// The result means in the mirror page what the address means in the original page.
    ///
    /// - Parameters:
    ///   - address: The address as the original page parses it.
    ///   - base: The base URL of the address.
    ///   - isPromised: True if an `integrity` attribute has a hash of the bytes. Then the network must answer, and not
    ///     a file.
    ///   - isMirrored: Returns true if this absolute URL is to be rewritten to its mirror.
    /// - Returns: The spelling; nil if the address can stay as it is.
    func written(
        _ address: WebAddress,
        from base: Base,
        isPromised: Bool = false,
        isMirrored: (String) -> Bool
    ) -> [UInt8]? {
        switch address {
        case .other: return nil
        case .relative(let text): return base.isMirror ? text : nil
        case .absolute(let scheme, let authority, let rest):
            guard !isPromised, let origin = WebOrigin("\(scheme)://\(authority)"),
                isMirrored(origin.site + String(decoding: rest, as: UTF8.self))
            else { return nil }
            return Array(origin.mirror.text.utf8) + rest
        case .schemeRelative(let authority, let rest):
            let whole = WebAddress.absolute(scheme: base.scheme, authority: authority, rest: rest)
            guard base.isMirror else {
                return written(whole, from: base, isPromised: isPromised, isMirrored: isMirrored)
            }
            let own = Array("\(base.scheme)://\(authority)".utf8) + rest
            guard let origin = WebOrigin("\(base.scheme)://\(authority)") else {
                // A host with non-ASCII letters or user info has no mirror, but it may exist on the network.
                return authority.utf8.contains { $0 >= 0x80 || $0 == UInt8(ascii: "@") } ? own : nil
            }
            // The address has no scheme, so it already leads to a mirror. The address may stay without a scheme only if
            // this library answers requests for that mirror.
            let isFile = isMirrored(origin.site + String(decoding: rest, as: UTF8.self))
            let isMirrored = isPromised ? isForwarded(origin) && !isFile : isForwarded(origin) || isFile
            return isMirrored ? Array("//\(origin.authority)".utf8) + rest : own
        }
    }

    private func edit(of reference: ReferenceScanner.Reference, from base: Base, isPromised: Bool = false) -> PageEdit?
    {
        let place = reference.place.address
        let address = WebAddress(place.bytes, from: base.scheme)
        let upgraded = reference.isUpgraded ? upgraded(address) : nil
        let text = written(upgraded ?? address, from: base, isPromised: isPromised, isMirrored: isMapped)
        return (text ?? upgraded?.text).flatMap { PageEdit(place, to: $0, reference.notation) }
    }

    /// Returns the https address to which browsers would upgrade this address; nil if they would not.
    ///
    /// Browsers upgrade http addresses in https pages (Mixed Content Level 2 §4.1). WebKit does so in real pages, but
    /// not in pages of an app's custom scheme.
    private func upgraded(_ address: WebAddress) -> WebAddress? {
        guard case .absolute("http", let authority, let rest) = address, WebOrigin(url)?.isSecure == true,
            let origin = WebOrigin("http://\(authority)"), origin.hasName
        else { return nil }
        // `origin.authority` is in normal form. So it does not contain the default port of http, which would be wrong
        // for https.
        return .absolute(scheme: "https", authority: origin.authority, rest: rest)
    }

    private func resolved(_ reference: ReferenceScanner.Reference, _ base: Base) -> URL? {
        let text = { (bytes: [UInt8]) in String(decoding: bytes, as: UTF8.self) }
        switch WebAddress(reference.place.address.bytes, from: base.scheme) {
        case .other: return nil
        case .absolute(let scheme, let authority, let rest):
            return URL(string: "\(scheme)://\(authority)\(text(rest))")
        case .schemeRelative(let authority, let rest):
            return URL(string: "\(base.scheme)://\(authority)\(text(rest))")
        case .relative(let path): return URL(string: text(path), relativeTo: base.url)?.absoluteURL
        }
    }

    // MARK: - The base

    /// Returns the base URL from the first `base` element; without such an element, the URL of the page.
    private func base(_ references: PageScanner.References, _ page: Base, _ origin: WebOrigin) -> Base {
        guard let reference = references.bases.first, let url = resolved(reference, page), let base = WebOrigin(url)
        else { return page }
        let isMirror =
            switch WebAddress(reference.place.address.bytes, from: page.scheme) {
            case .other, .relative: true
            case .absolute: base == origin
            case .schemeRelative: base == origin || isForwarded(base) && !isMapped(url.absoluteString)
            }
        return Base(url: url, scheme: base.isSecure ? "https" : "http", isMirror: isMirror)
    }

    /// Returns the edit of a `base` element.
    ///
    /// A base URL on the page's own site becomes its mirror, whether or not a file answers that URL.
    private func baseEdit(of reference: ReferenceScanner.Reference, _ page: Base, _ origin: WebOrigin) -> PageEdit? {
        let isOwn = resolved(reference, page).flatMap { WebOrigin($0) } == origin
        let place = reference.place.address
        let address = WebAddress(place.bytes, from: page.scheme)
        return written(address, from: page, isPromised: !isOwn) { isOwn || isMapped($0) }
            .flatMap { PageEdit(place, to: $0, reference.notation) }
    }

    // MARK: - Import maps and policies

    private func importMapEdits(_ references: PageScanner.References, _ base: Base, _ bytes: [UInt8]) -> [PageEdit] {
        if references.importMaps.isEmpty { return [] }
        let promised = Set(
            references.promised.compactMap { try? URLIdentity(resolved($0, base)?.absoluteString ?? "") }
        )
        let prefixes = ImportMap.PrefixCache(isMappedPrefix)
        return references.importMaps.flatMap { range in
            ImportMap(
                text: SourceMappedText(range, of: bytes),
                rewriter: self,
                base: base,
                promised: promised,
                prefixes: prefixes
            ).edits
        }
    }

    /// Returns the edits that add mirrors to the sources that a policy allows.
    private func policyEdits(of policy: SourceMappedText, _ origin: WebOrigin) -> [PageEdit] {
        ContentPolicy.additions(to: policy.bytes, for: origin).map { addition in
            let offset = policy.offset(addition.offset)
            return PageEdit(offset..<offset, addition.text.utf8, .attribute)
        }
    }
}

extension MediaType {
    /// True for types whose addresses are rewritten to mirrors.
    var isRewritten: Bool { essence == "text/html" || essence == "text/css" }
}

import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// Leads the absolute addresses of a mirror page to mirrors, where they name something that the app has.
///
/// Relative addresses lead there by themselves, unless a page of http or https reads them otherwise than a mirror
/// (``WebAddress``). Everything else stays byte for byte, encoding and quotation marks included.
struct PageRewriter: Sendable {
    /// The URL of the page or stylesheet, and not of its mirror.
    let url: URL
    /// Answers true if a file of the app answers this http or https URL.
    let isMapped: @Sendable (String) -> Bool
    /// Answers true if the network answers URLs of this site that are not mapped.
    let isForwarded: @Sendable (WebOrigin) -> Bool
    /// Answers true if a URL that begins so is mapped.
    var isMappedPrefix: @Sendable (String) -> Bool = { _ in false }

    /// The outcome for one body.
    struct Result {
        /// The body, with what is needed written into it; nil where nothing is.
        var body: Data?
        /// URLs that links of the page name with `integrity`, which promises the bytes of a file or of the network.
        var promised: [URL] = []
    }

    /// The base URL of a page.
    struct Base {
        let url: URL
        let scheme: String
        /// True if an engine resolves relative addresses to mirrors.
        let isMirror: Bool
    }

    /// Writes mirrors into a body.
    ///
    /// - Parameters:
    ///   - body: A whole page or stylesheet.
    ///   - type: Its media type; others than `text/html` and `text/css` are left alone, and encodings whose characters
    ///     have two bytes.
    ///   - policy: The content policy that the answer names in its head.
    /// - Returns: The new body, and what else the page says.
    ///
    /// Cost: a look at each byte, and one look-up for each absolute address.
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
            // Where a policy names styles and scripts by their fingerprints, others would be refused.
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

    /// The spelling of an address that means in a mirror page what it means in the page.
    ///
    /// - Parameters:
    ///   - address: The address as the page reads it.
    ///   - base: What it is relative to.
    ///   - isPromised: Whether its bytes are promised, so that the network's answer stands.
    ///   - isLed: Answers whether an absolute URL leads to its mirror.
    /// - Returns: Nil where every spelling does.
    func written(
        _ address: WebAddress,
        from base: Base,
        isPromised: Bool = false,
        isLed: (String) -> Bool
    ) -> [UInt8]? {
        switch address {
        case .other: return nil
        case .relative(let text): return base.isMirror ? text : nil
        case .absolute(let scheme, let authority, let rest):
            guard !isPromised, let origin = WebOrigin("\(scheme)://\(authority)"),
                isLed(origin.site + String(decoding: rest, as: UTF8.self))
            else { return nil }
            return Array(origin.mirror.text.utf8) + rest
        case .schemeRelative(let authority, let rest):
            let whole = WebAddress.absolute(scheme: base.scheme, authority: authority, rest: rest)
            guard base.isMirror else { return written(whole, from: base, isPromised: isPromised, isLed: isLed) }
            let own = Array("\(base.scheme)://\(authority)".utf8) + rest
            guard let origin = WebOrigin("\(base.scheme)://\(authority)") else {
                // No mirror has such a host, and the network may.
                return authority.utf8.contains { $0 >= 0x80 || $0 == UInt8(ascii: "@") } ? own : nil
            }
            // What is relative to the scheme is a mirror already: right only where that answers.
            let isFile = isLed(origin.site + String(decoding: rest, as: UTF8.self))
            let isMirrored = isPromised ? isForwarded(origin) && !isFile : isForwarded(origin) || isFile
            return isMirrored ? Array("//\(origin.authority)".utf8) + rest : own
        }
    }

    private func edit(of reference: ReferenceScanner.Reference, from base: Base, isPromised: Bool = false) -> PageEdit?
    {
        let place = reference.place.address
        let address = WebAddress(place.bytes, from: base.scheme)
        let upgraded = reference.isUpgraded ? upgraded(address) : nil
        let text = written(upgraded ?? address, from: base, isPromised: isPromised, isLed: isMapped)
        return (text ?? upgraded?.text).flatMap { PageEdit(place, to: $0, reference.notation) }
    }

    /// The https address that a browser loads instead of one of http that a page of https names (Mixed Content Level 2
    /// §4.1); nil where it loads none.
    ///
    /// WebKit does so for real pages, and not for those of an app's scheme.
    private func upgraded(_ address: WebAddress) -> WebAddress? {
        guard case .absolute("http", let authority, let rest) = address, WebOrigin(url)?.isSecure == true,
            let origin = WebOrigin("http://\(authority)"), origin.hasName
        else { return nil }
        // Without the port of http, which normal form does not write.
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

    /// Returns the base URL that the first `base` element names.
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

    /// Leads a base of the page's own site to the mirror.
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
        let prefixes = ImportMap.Prefixes(isMappedPrefix)
        return references.importMaps.flatMap { range in
            ImportMap(
                text: PlacedText(range, of: bytes),
                rewriter: self,
                base: base,
                promised: promised,
                prefixes: prefixes
            ).edits
        }
    }

    /// Adds to a policy the mirrors of the sites that it allows.
    private func policyEdits(of policy: PlacedText, _ origin: WebOrigin) -> [PageEdit] {
        ContentPolicy.additions(to: policy.bytes, for: origin).map { addition in
            let offset = policy.offset(addition.offset)
            return PageEdit(offset..<offset, addition.text.utf8, .attribute)
        }
    }
}

extension MediaType {
    /// True for types whose addresses are led to mirrors.
    var isRewritten: Bool { essence == "text/html" || essence == "text/css" }
}

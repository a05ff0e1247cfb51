import Foundation

/// Leads the absolute addresses of a mirror page to mirrors, where they name something that the app has.
///
/// Relative addresses lead there by themselves. Nothing is removed: only the beginning of an address is written before
/// it, and the mirrors of what a policy allows before that, so that encoding, quoting and everything else stay.
struct PageRewriter: Sendable {
    /// The URL of the page or stylesheet, and not of its mirror.
    let url: URL
    /// Whether a file of the app answers this http or https URL.
    let isMapped: @Sendable (String) -> Bool
    /// Whether what is not mapped is loaded for pages from this site.
    let isForwarded: @Sendable (WebOrigin) -> Bool

    /// What became of a body.
    struct Result {
        /// The body, with what is needed written into it; nil where nothing is.
        var body: Data?
        /// What links of a page name with `integrity`, which promises the bytes of a file or of the network.
        var promised: [URL] = []
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
        let bytes = Array(body)
        var insertions: [(offset: Int, text: String)] = []
        if type.essence == "text/css" {
            insertions = ReferenceScanner.references(inStylesheet: bytes).compactMap(insertion)
        } else {
            let references = PageScanner.references(in: bytes)
            insertions = references.addresses.compactMap(insertion) + references.promised.compactMap(schemeInsertion)
            let policies = [policy ?? ""] + references.policies.map(\.string)
            // Where a policy names styles by their fingerprints, another style would be refused.
            if !policies.contains(where: { $0.lowercased().contains("'sha") }) {
                insertions += references.styles.compactMap(insertion)
            }
            insertions += references.bases.compactMap { baseInsertion(for: $0, origin) }
            insertions += references.policies.flatMap { policyInsertions(for: $0, origin) }
            insertions.sort { $0.offset < $1.offset }
            let base = references.bases.first.flatMap { URL(string: $0.text, relativeTo: url) } ?? url
            result.promised = references.promisedLinks.compactMap {
                URL(string: $0.text, relativeTo: base)?.absoluteURL
            }
        }
        if !insertions.isEmpty { result.body = Self.body(bytes, with: insertions) }
        return result
    }

    private static func body(_ bytes: [UInt8], with insertions: [(offset: Int, text: String)]) -> Data {
        var body = Data(capacity: bytes.count + insertions.count * MirrorURL.prefix.utf8.count)
        var index = 0
        for insertion in insertions {
            body.append(contentsOf: bytes[index..<insertion.offset])
            body.append(contentsOf: insertion.text.utf8)
            index = insertion.offset
        }
        body.append(contentsOf: bytes[index...])
        return body
    }

    private func insertion(for reference: ReferenceScanner.Reference) -> (offset: Int, text: String)? {
        if reference.text.hasPrefix("//") {
            return isMapped(scheme + reference.text) ? nil : schemeInsertion(for: reference)
        }
        guard Self.isAbsolute(reference.text), isMapped(reference.text) else { return nil }
        return (reference.offset, MirrorURL.prefix)
    }

    private var scheme: String { url.scheme.map { $0 + ":" } ?? "" }

    /// What is relative to the scheme is a mirror already: right only where the network answers it.
    private func schemeInsertion(for reference: ReferenceScanner.Reference) -> (offset: Int, text: String)? {
        guard reference.text.hasPrefix("//"), let origin = WebOrigin(scheme + reference.text),
            !isForwarded(origin) || isMapped(scheme + reference.text)
        else { return nil }
        return (reference.offset, scheme)
    }

    /// What is relative to the page's own site stays on its mirror.
    private func baseInsertion(
        for reference: ReferenceScanner.Reference,
        _ origin: WebOrigin
    ) -> (offset: Int, text: String)? {
        let isOwn = WebOrigin(URL(string: reference.text, relativeTo: url)) == origin
        guard Self.isAbsolute(reference.text) else { return isOwn ? nil : schemeInsertion(for: reference) }
        return isOwn ? (reference.offset, MirrorURL.prefix) : nil
    }

    /// What a policy has to say of mirrors, too.
    private func policyInsertions(
        for policy: PlacedText,
        _ origin: WebOrigin
    ) -> [(offset: Int, text: String)] {
        ContentPolicy.additions(to: policy.bytes, for: origin).map { addition in
            // As character references, which no kind of quotation ends.
            let text = addition.text.unicodeScalars.map { scalar in
                "&\"'<> ".unicodeScalars.contains(scalar) ? "&#\(scalar.value);" : String(scalar)
            }
            return (policy.offset(addition.offset), text.joined())
        }
    }

    private static func isAbsolute(_ text: String) -> Bool {
        let start = text.prefix(8).lowercased()
        return start.hasPrefix("http://") || start.hasPrefix("https://")
    }
}

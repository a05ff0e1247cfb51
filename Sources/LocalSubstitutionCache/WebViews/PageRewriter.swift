import Foundation

/// Leads the absolute addresses of a mirror page to mirrors, where they name something that the app has.
///
/// Relative addresses lead there by themselves. Nothing is removed: only the beginning of an address is written before
/// it, and the mirrors of what a policy allows before that, so that encoding, quoting and everything else stay.
struct PageRewriter: Sendable {
    /// The origin of the page.
    let page: WebOrigin
    /// Whether a file of the app answers this http or https URL.
    let isMapped: @Sendable (String) -> Bool
    /// Whether what is not mapped is loaded for pages from this `host:port`.
    let isForwarded: @Sendable (String) -> Bool

    /// The body, with what is needed written into it; nil where nothing is.
    ///
    /// - Parameters:
    ///   - body: A whole page or stylesheet.
    ///   - type: Its media type; others than `text/html` and `text/css` are left alone, and encodings whose characters
    ///     have two bytes.
    /// - Returns: The new body.
    ///
    /// Cost: a look at each byte, and one look-up for each absolute address.
    func rewritten(_ body: Data, _ type: MediaType) -> Data? {
        guard type.isRewritten,
            type.description.range(of: "charset=\"?utf-(16|32)", options: [.regularExpression, .caseInsensitive])
                == nil,
            !body.starts(with: [0xFE, 0xFF]), !body.starts(with: [0xFF, 0xFE])
        else { return nil }
        let bytes = Array(body)
        var insertions: [(offset: Int, text: String)] = []
        if type.essence == "text/css" {
            insertions = ReferenceScanner.references(inStylesheet: bytes).compactMap(insertion)
        } else {
            let references = PageScanner.references(in: bytes)
            insertions = references.addresses.compactMap(insertion) + references.bases.compactMap(baseInsertion)
            insertions += references.policies.flatMap(policyInsertions)
            insertions.sort { $0.offset < $1.offset }
        }
        guard !insertions.isEmpty else { return nil }
        var result = Data(capacity: bytes.count + insertions.count * MirrorURL.prefix.utf8.count)
        var index = 0
        for insertion in insertions {
            result.append(contentsOf: bytes[index..<insertion.offset])
            result.append(contentsOf: insertion.text.utf8)
            index = insertion.offset
        }
        result.append(contentsOf: bytes[index...])
        return result
    }

    private func insertion(for reference: ReferenceScanner.Reference) -> (offset: Int, text: String)? {
        if reference.text.hasPrefix("//") {
            // It is relative to the scheme, and so a mirror already: right only where something answers it.
            let scheme = String(page.site.prefix { $0 != "/" })
            let url = scheme + reference.text
            if isMapped(url) || WebOrigin(url).map({ isForwarded($0.authority) }) ?? true { return nil }
            return (reference.offset, scheme)
        }
        guard Self.isAbsolute(reference.text), isMapped(reference.text) else { return nil }
        return (reference.offset, MirrorURL.prefix)
    }

    /// What is relative to the page's own site stays on its mirror.
    private func baseInsertion(for reference: ReferenceScanner.Reference) -> (offset: Int, text: String)? {
        guard Self.isAbsolute(reference.text), let base = WebOrigin(reference.text), base.mirror == page else {
            return nil
        }
        return (reference.offset, MirrorURL.prefix)
    }

    /// What a policy has to say of mirrors, too.
    private func policyInsertions(for policy: PageScanner.Policy) -> [(offset: Int, text: String)] {
        ContentPolicy.additions(to: policy.bytes, for: page).map { addition in
            // As character references, which no kind of quotation ends.
            let text = addition.text.unicodeScalars.map { scalar in
                "&\"'<> ".unicodeScalars.contains(scalar) ? "&#\(scalar.value);" : String(scalar)
            }
            return (policy.offsets[addition.offset], text.joined())
        }
    }

    private static func isAbsolute(_ text: String) -> Bool {
        let start = text.prefix(8).lowercased()
        return start.hasPrefix("http://") || start.hasPrefix("https://")
    }
}

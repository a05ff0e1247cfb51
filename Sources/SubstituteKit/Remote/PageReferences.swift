import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// The URLs that a page or a stylesheet loads.
enum PageReferences {
    /// The maximum size of a page or stylesheet that is searched, in bytes.
    private static let largestSize = 20_000_000

    /// True for a stylesheet.
    ///
    /// The references of a stylesheet are always loaded. The references of a page are loaded only if the user named the
    /// page.
    static func isStylesheet(_ resource: Resource) -> Bool {
        (resource.type ?? MediaType(fileName: resource.key.address.path))?.essence == "text/css"
    }

    /// Returns the distinct http and https URLs to which a page or stylesheet refers; empty for any other resource.
    static func addresses(in resource: Resource) -> [String] {
        let type = resource.type ?? MediaType(fileName: resource.key.address.path)
        guard let type, let data = try? Data(contentsOf: resource.file), data.count <= largestSize else { return [] }
        var texts: [String] = []
        var base = resource.source
        if type.isHTML {
            let references = PageScanner.references(in: Array(data))
            texts = references.resources
            base = references.bases.first.flatMap { URL(string: $0.text, relativeTo: base)?.absoluteURL } ?? base
        } else if isStylesheet(resource) {
            texts = ReferenceScanner.references(inStylesheet: data).map(\.text)
        }
        var seen: Set<String> = []
        return texts.compactMap { text in
            guard let url = URL(string: text.replacingOccurrences(of: " ", with: "%20"), relativeTo: base) else {
                return nil
            }
            let address = String(url.absoluteString.prefix { $0 != "#" })
            return ["http", "https"].contains(url.scheme?.lowercased()) && seen.insert(address).inserted ? address : nil
        }
    }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionRules

/// The URLs that a page or a stylesheet loads.
enum PageReferences {
    /// True for a resource whose references are loaded, too, if a page or stylesheet refers to the resource.
    ///
    /// Such a resource is a stylesheet, or a page in a frame.
    static func isFollowed(_ resource: Resource) -> Bool {
        type(of: resource).map { $0.isHTML || $0.essence == "text/css" } ?? false
    }

    /// Returns the distinct http and https URLs to which a page or stylesheet refers, and the kind that each means.
    ///
    /// Empty for any other resource.
    static func addresses(in resource: Resource) -> [(String, ResourceKind)] {
        guard isFollowed(resource) else { return [] }
        let (references, base) = references(in: resource)
        var seen: Set<String> = []
        return references.compactMap { reference in
            guard let url = URL(reference: reference.text, in: base) else { return nil }
            let address = String(url.absoluteString.prefix { $0 != "#" })
            return seen.insert(address).inserted ? (address, kinds[reference.element ?? ""] ?? .other) : nil
        }
    }

    /// The kinds of what elements load (Fetch §2.2.5, destination); a URL's own extension says more.
    private static let kinds: [String: ResourceKind] = [
        "img": .image, "input": .image, "image": .image, "feimage": .image, "iframe": .document, "frame": .document,
        "link": .stylesheet, "?xml-stylesheet": .stylesheet,
    ]

    /// Returns true if a resource's references may resolve against the URL of the response (RFC 3986 §5.1.3).
    static func dependsOnURL(_ resource: Resource) -> Bool {
        isFollowed(resource)
            || type(of: resource)?.isJavaScript == true && text(of: resource)?.range(of: Data("import".utf8)) != nil
    }

    private static func type(of resource: Resource) -> MediaType? {
        resource.type ?? MediaType(fileName: resource.key.address.path)
    }

    private static func text(of resource: Resource) -> Data? {
        let data = try? Data(contentsOf: resource.file, options: .mappedIfSafe)
        return data.flatMap { $0.count <= ScannedFile.largestSize ? $0 : nil }
    }

    /// Returns the references in a resource, and the URL against which they resolve.
    private static func references(in resource: Resource) -> ([ReferenceScanner.Reference], base: URL) {
        guard let data = text(of: resource) else { return ([], resource.source) }
        var found: [ReferenceScanner.Reference]
        var base = resource.source
        let type = type(of: resource)
        if type?.essence == "text/css" {
            found = ReferenceScanner.references(inStylesheet: data)
        } else {
            let references = PageScanner.references(in: Array(data), isXML: type?.isXML == true)
            found = references.resources
            base = references.bases.first.flatMap { URL(reference: $0.text, in: base) } ?? base
        }
        // A reference that is only a fragment means a part of the same document (CSS Values 4 §4.5.1.1, SVG 2 §16.1.2).
        found.removeAll { $0.text.hasPrefix("#") }
        return (found, base)
    }
}

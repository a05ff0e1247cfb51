import Foundation
package import LocalSubstitutionCache
import SubstitutionChecking
package import SubstitutionRules

/// The addresses in a page, stylesheet or script that browsers load or import.
package struct ScannedFile {
    package typealias Reference = ReferenceScanner.Reference

    /// The addresses, without URLs that hold their data.
    package let references: [Reference]
    /// The first `base` element of a page, whose address is the base of the others.
    private var base: Reference?
    /// The addresses of a page's bare module specifiers.
    private var imports: [String: String] = [:]
    /// The size above which a file is not scanned, in bytes.
    package static let largestSize = 20_000_000

    /// Scans a file; nil for a file of another type, a larger file, and one that cannot be read.
    fileprivate init?(_ substitution: Substitution) {
        let type = substitution.type
        let patterns = Self.patterns[type.canonical.essence] ?? []
        guard type.isHTML || type.essence == "text/css" || type.isJavaScript || !patterns.isEmpty,
            substitution.size <= Self.largestSize,
            let data = substitution.bytes(upTo: Self.largestSize)
        else { return nil }
        // Most scripts are not modules, and searching them is faster than scanning them.
        if type.isJavaScript, !Self.scriptWords.contains(where: { data.range(of: Data($0.utf8)) != nil }) {
            references = []
            return
        }
        let bytes = Array(data)
        var found: [Reference] = []
        if type.isHTML {
            let page = PageScanner.references(in: bytes, isXML: type.isXML)
            base = page.bases.first
            for map in page.importMaps {
                let map = try? JSONDecoder().decode(ImportMap.self, from: Data(bytes[map]))
                imports.merge(map?.imports.compactMapValues(\.self) ?? [:]) { $1 }
            }
            found = page.resources
            for script in page.scripts {
                let text = SourceMappedText(script, of: bytes)
                found += ReferenceScanner.references(inScript: text.bytes).filter(\.isSpecifier).map {
                    $0.placed(in: text)
                }
            }
        } else if !patterns.isEmpty {
            found = patterns.flatMap { ReferenceScanner.references(matching: $0, in: bytes) }
        } else if type.isJavaScript {
            found = ReferenceScanner.references(inScript: bytes)
        } else {
            found = ReferenceScanner.references(inStylesheet: bytes)
        }
        found.removeAll { $0.place.bytes.starts(with: "data:".utf8) }
        references = found
    }

    /// The addresses in playlists (RFC 8216 §4.1, §4.3) and in manifests of web apps.
    nonisolated(unsafe) private static let patterns = [
        "application/vnd.apple.mpegurl": [/(?:^|\n)[ \t]*([^#\s][^\r\n]*)/, /[,:]URI="([^"\n]+)"/],
        "application/manifest+json": [/"src"\s*:\s*"([^"\\\n]+)"/],
    ]

    private static let scriptWords = ["import", "URL", "from\"", "from '", "from \"", "from'"]

    /// Returns the line of each offset in a file as it is now, counted from 1.
    package static func lines(of offsets: [Int], in substitution: Substitution) -> [Int] {
        let text = SourceText(name: "", bytes: substitution.bytes(upTo: largestSize) ?? Data())
        return offsets.map { text.position(of: $0).line }
    }

    /// The member `imports` of an import map (HTML §8.1.6.3); prefixes and scopes are left out.
    private struct ImportMap: Decodable { let imports: [String: String?] }

    /// Returns the URL to which a reference leads from this file at `url`; nil if it is not clear.
    ///
    /// It is not clear if a template or a script replaces a part of the address, or if it is not UTF-8.
    package func url(of reference: Reference, at url: URLIdentity) -> URLIdentity? {
        let base = base.flatMap { Self.url($0.place.address.bytes, from: url) } ?? url
        let bytes = reference.place.address.bytes
        guard reference.isSpecifier else {
            let target = Self.url(bytes, from: base)
            let isUpgraded = reference.isUpgraded && url.scheme == "https" && target?.scheme == "http"
            return isUpgraded ? target.flatMap { try? URLIdentity("https" + $0.description.dropFirst(4)) } : target
        }
        if let address = imports[reference.text] { return Self.url(Array(address.utf8), from: base) }
        // A specifier that is neither relative nor a whole URL is a name, which a bundler has to resolve.
        if case .relative = WebAddress(bytes, from: nil), !["/", "./", "../"].contains(where: reference.text.hasPrefix)
        {
            return nil
        }
        return Self.url(bytes, from: base)
    }

    private static func url(_ address: [UInt8], from base: URLIdentity) -> URLIdentity? {
        guard !address.contains(where: { "{}<>".utf8.contains($0) }),
            !String(decoding: address, as: UTF8.self).unicodeScalars.contains("\u{FFFD}")
        else { return nil }
        return WebAddress(address, from: base.scheme).url(from: base)
    }
}

/// Files that were scanned; each is read once.
package struct ScannedFiles {
    private var found: [String: ScannedFile?] = [:]

    package init() {}

    /// Returns the scanned file of a substitution; nil if it is not scanned.
    package mutating func file(of substitution: Substitution) -> ScannedFile? {
        let key = "\(substitution.type.canonical.essence) \(substitution.realPath)"
        if let known = found[key] { return known }
        let file = ScannedFile(substitution)
        found[key] = .some(file)
        return file
    }
}

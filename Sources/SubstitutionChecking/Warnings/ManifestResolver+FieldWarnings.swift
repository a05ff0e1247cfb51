import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// Warnings about URLs, types and header fields that are valid but probably wrong.
///
/// Browsers do not give such a URL, type or field the meaning that the designer probably intended.
extension ManifestResolver {
    mutating func warnOfFields() {
        for entry in manifest.entries {
            if entry.pattern != nil, let (cause, meant) = URLRepair.suspicion(of: entry.key.value) {
                let sentence = "\(quoted(entry.key.value)) \(cause); did you mean \(quoted(meant, limit: 1000))?"
                report(.warning, .unlikelyURL, entry.key.offset, sentence)
            } else if entry.pattern != nil, let sentence = UnlikelyURL.problem(of: entry) {
                report(.warning, .unlikelyURL, entry.key.offset, sentence)
            }
            if case .ignoring(let names) = entry.query, let sentence = Self.problem(ofParameters: names) {
                report(.warning, .unlikelyURL, entry.queryOffset ?? entry.key.offset, sentence)
            }
            if let type = entry.type, let meant = Self.type(meantBy: type, of: entry.file?.value ?? "") {
                let sentence = "browsers do not know the type \(quoted(type.essence)); write \(quoted(meant.essence))"
                report(.warning, .unlikelyType, entry.typeOffset ?? entry.key.offset, sentence)
            }
            for (name, value) in entry.headers.sorted(by: { $0.key < $1.key }) {
                guard let sentence = Self.problem(ofHeader: name, value, of: entry) else { continue }
                report(.warning, .unlikelyHeader, entry.headersOffset ?? entry.key.offset, sentence)
            }
        }
    }

    // MARK: - Types

    /// Returns the type that was probably meant by an unknown type.
    ///
    /// Nil for a known type, and for a type that resembles no known type: the app itself may define such a type.
    private static func type(meantBy type: MediaType, of file: String) -> MediaType? {
        guard !MediaType.isKnown(type.essence), type.synonyms == [type.essence] else { return nil }
        // In `image/svg` and `text/js`, the subtype is the file extension of the type that was meant.
        if let meant = MediaType(fileName: "x.\(type.essence.dropFirst(type.kind.count + 1))"), isOfWeb(meant) {
            return meant
        }
        return MediaType(fileName: file).flatMap {
            suggestion(for: type.essence, among: [$0.essence]) == nil ? nil : $0
        }
    }

    /// True for types that web pages load.
    ///
    /// No other types are guessed, because there are too many of them.
    private static func isOfWeb(_ type: MediaType) -> Bool {
        ["image", "font", "audio", "video"].contains(type.kind)
            || ["text/css", "text/html", "text/javascript", "text/plain", "application/json"].contains(type.essence)
    }

    // MARK: - Queries

    /// Returns a message about a name that is probably several names; nil if there is none.
    private static func problem(ofParameters names: [ParameterName]) -> String? {
        for name in names {
            let text = name.description.percentDecoded ?? name.description
            if name.text.isEmpty, name.isPrefix {
                return "\"*\" matches every parameter; write true to ignore the whole query"
            }
            if let stem = text.wholeMatch(of: patternAtEnd)?.1 {
                return "\(quoted(text)) is a regular expression, and a name only ends in * for any ending; write "
                    + quoted("\(stem)*")
            }
            let parts = text.split { ",; |+".contains($0) }.map(String.init)
            // A part of a URL could show a password.
            guard !text.contains("/"), parts.count > 1 || parts.first.map({ $0 != text }) == true else { continue }
            let list = parts.map { quoted($0) }.joined(separator: ", ")
            return "\(quoted(text)) is the name of one parameter, which no URL has; write [\(list)]"
        }
        return nil
    }

    /// A name with the regular expression for any ending.
    nonisolated(unsafe) private static let patternAtEnd = /\^?([\w\-]+)(?:\.[*+]|\[?\\w\]?[*+]|%)\$?\*?/

    // MARK: - Headers

    /// Returns a message about a header field that browsers do not accept as it is written.
    ///
    /// Nil if they accept the field (Fetch Standard §3.3).
    private static func problem(ofHeader name: String, _ value: String?, of entry: ManifestEntry) -> String? {
        switch name.lowercased() {
        case "access-control-allow-origin":
            guard let value, value != "*", value != "null", !isOrigin(value) else { return nil }
            let origin = (URLRepair.repaired(value) ?? value).split(separator: "/", maxSplits: 3).prefix(2).joined(
                separator: "//"
            ).lowercased()
            let remedy = isOrigin(origin) ? "write \(quoted(origin))" : "write one, or \"*\" for all"
            return "\(quoted(value)) is not an origin, so browsers let no site read the file; \(remedy)"
        case "access-control-allow-credentials":
            let origin = entry.headers.first { $0.key.lowercased() == "access-control-allow-origin" }
            guard value?.lowercased() == "true", origin == nil || origin?.value == "*" else { return nil }
            return "browsers refuse \(quoted(name)) where every origin is allowed; "
                + "name one, such as \"Access-Control-Allow-Origin\": \"https://example.com\""
        default: return nil
        }
    }

    private static func isOrigin(_ text: String) -> Bool { text.wholeMatch(of: serializedOrigin) != nil }

    /// `serialized-origin` of RFC 6454 §6.2.
    nonisolated(unsafe) private static let serializedOrigin =
        /[a-z][a-z0-9+.\-]*:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._\-]+)(:[0-9]+)?/
}

import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// The JSON schema of manifests (draft-07), for editors.
///
/// Visual Studio Code's JSON language service reads keywords that are not in the standard: `errorMessage`,
/// `markdownDescription`, `enumDescriptions` and `defaultSnippets`. Other validators ignore these keywords. The texts
/// in these keywords are for designers. The media types and header names are from the library's own tables.
///
/// For a condition, an `enum` provides the completions, and a `pattern` does the check. An `anyOf` with an empty schema
/// makes the `enum` accept every value. If the `enum` did the check, the language service would show its own message
/// instead of the `errorMessage`.
///
/// A schema cannot check files or compare keys. The `check` command does both.
enum Schema {
    /// The text with a seal in its last member.
    static let sealedText = String(
        decoding: Seal.sealed(Data(text.dropLast("\n}\n".count).utf8), ",\n  \"$comment\": \"", "\"\n}\n"),
        as: UTF8.self
    )
    /// The text of the schema; ends in a line break.
    static let text = String(resource: PackageResources.schema_json)
        .replacingOccurrences(of: "\"@mediaTypes\"", with: mediaTypes)
        .replacingOccurrences(of: "@reservedHeaders", with: reservedHeaders)
        .replacingOccurrences(of: "            \"@commonHeaders\": {}", with: commonHeaders)

    private static let mediaTypes = MediaType.knownEssences.map { "\"\($0)\"" }.joined(separator: ",\n            ")

    /// A regular expression for the names of all header fields that an entry may not set.
    ///
    /// Header names are case-insensitive. In a JSON schema, a regular expression cannot have the flag that ignores
    /// case. The expression therefore contains each letter in both cases.
    private static let reservedHeaders = ReservedHeader.names.map { name in
        name.map { $0.isLetter ? "[\($0.uppercased())\($0)]" : String($0) }.joined()
    }.joined(separator: "|")

    /// Header fields that designers often add, each with a description of its purpose.
    private static let commonHeaders = [
        ("Access-Control-Allow-Origin", "Which sites may read the file from a web page: an origin, or * for all."),
        ("Access-Control-Expose-Headers", "Which headers scripts of a web page may read."),
        ("Content-Disposition", "Whether the file is shown or saved, and under what name."),
        ("Content-Language", "The language of the text, such as en."),
        ("Content-Security-Policy", "What a page may load and run."),
        ("Cross-Origin-Resource-Policy", "Which sites may show the file."),
        ("Link", "Other files that belong to this one."),
        ("Referrer-Policy", "How much of a page's URL other servers see."),
        ("Timing-Allow-Origin", "Which sites may see how long the load took."),
        ("X-Content-Type-Options", "nosniff: browsers do not guess another type."),
    ].map { name, description in
        // The value of this header field may be null, so `patternProperties` has a separate rule for it.
        name == "Access-Control-Allow-Origin"
            ? "            \"\(name)\": { \"description\": \"\(description)\" }"
            : "            \"\(name)\": { \"description\": \"\(description)\", \"$ref\": \"#/definitions/headerValue\" }"
    }.joined(separator: ",\n")
}

import Foundation

/// One exchange of a recording, as a browser or proxy writes it.
struct HAREntry: Sendable {
    var method = "GET"
    var url = "https://h/a.css"
    /// The status as raw JSON, so that tests can use values that no program should write.
    var status = "200"
    /// The `mimeType`; nil to leave it out.
    var type: String? = "text/css"
    /// The body; nil to leave it out.
    var text: String? = "a { }\n"
    var encoding: String?
    /// The body's length as a raw JSON value; nil to leave it out.
    var size: String?
    /// The `_resourceType`; nil to leave it out.
    var kind: String?
    /// The header fields of the request.
    var asked: [Field] = []
    /// The header fields of the response.
    var sent: [Field] = []

    /// A header field.
    struct Field: Sendable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    /// The entry as JSON.
    var json: String {
        var content: [String] = []
        if let size { content.append("\"size\":\(size)") }
        if let type { content.append("\"mimeType\":\(type.inJSON)") }
        if let text { content.append("\"text\":\(text.inJSON)") }
        if let encoding { content.append("\"encoding\":\(encoding.inJSON)") }
        let request = "{\"method\":\(method.inJSON),\"url\":\(url.inJSON),\"headers\":\(Self.list(asked))}"
        let response =
            "{\"status\":\(status),\"headers\":\(Self.list(sent)),\"content\":{\(content.joined(separator: ","))}}"
        let kind = kind.map { "\"_resourceType\":\($0.inJSON)," } ?? ""
        return "{\"startedDateTime\":\"2026-01-01T00:00:00Z\",\(kind)\"request\":\(request),\"response\":\(response)}"
    }

    private static func list(_ fields: [Field]) -> String {
        let fields = fields.map { "{\"name\":\($0.name.inJSON),\"value\":\($0.value.inJSON)}" }
        return "[" + fields.joined(separator: ",") + "]"
    }
}

/// Builds the texts of whole recordings.
enum HAR {
    /// Returns a recording with these exchanges.
    static func text(_ entries: HAREntry...) -> String { text(entries) }

    /// Returns a recording with these exchanges.
    static func text(_ entries: [HAREntry]) -> String { text(of: entries.map(\.json)) }

    /// Returns a recording with these exchanges, each given as JSON.
    static func text(of entries: [String]) -> String {
        "{\"log\":{\"version\":\"1.2\",\"creator\":{\"name\":\"t\",\"version\":\"1\"},\"entries\":["
            + entries.joined(separator: ",\n") + "]}}"
    }

    /// Returns the first bytes of a PNG, followed by `mark`, so that each test picture has different bytes.
    static func png(_ mark: String = "") -> Data {
        Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]) + Data(mark.utf8)
    }
}

extension String {
    /// The text as a JSON string literal.
    var inJSON: String {
        var result = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\u{0}"..<" ": result += String(format: "\\u%04x", scalar.value)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

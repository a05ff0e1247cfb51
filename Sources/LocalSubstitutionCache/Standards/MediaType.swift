/// A media type (RFC 9110 §8.3.1), such as `text/css; charset=utf-8`.
package struct MediaType: Hashable, Sendable, CustomStringConvertible {
    /// `type/subtype` in lower case, without parameters.
    package let essence: String
    /// The parameters in the order of the text: names in lower case, values without quotation marks.
    package let parameters: [Parameter]

    /// One `name=value` of a media type.
    package struct Parameter: Hashable, Sendable {
        /// The name, in lower case.
        package let name: String
        /// The value, without quotation marks.
        package let value: String
    }

    /// Reads a media type; nil when the text is not one, or has more than 1000 bytes.
    ///
    /// - Parameter text: For example `image/svg+xml` or `text/html;charset="utf-8"`.
    package init?(_ text: String) {
        var scanner = MediaTypeScanner(text)
        guard let type = scanner.token(), scanner.skip(UInt8(ascii: "/")), let subtype = scanner.token(),
            let parameters = scanner.parameters(), text.isStreamSafe, text.utf8.count <= 1000
        else { return nil }
        essence = "\(type)/\(subtype)".lowercased()
        self.parameters = parameters
    }

    package init(essence: String, parameters: [Parameter] = []) {
        self.essence = essence
        self.parameters = parameters
    }

    /// The `charset` parameter, in lower case.
    package var charset: String? {
        parameters.first { $0.name == "charset" }?.value.lowercased()
    }

    /// True for a type that a response can have.
    ///
    /// A type with `*` is for requests only, and an empty charset names no encoding.
    package var isConcrete: Bool { charset != "" && !essence.utf8.contains(UInt8(ascii: "*")) }

    /// The part before the "/", such as `image`.
    package var kind: Substring { essence.prefix { $0 != "/" } }

    /// True for scripts, stylesheets, JSON, images and the like: no such file begins like a page of HTML.
    var isNeverPage: Bool {
        ["image", "font", "audio", "video"].contains(kind)
            || ["javascript", "ecmascript", "css", "json"].contains { essence.hasSuffix($0) }
    }

    /// True for types that declare their encoding in a `charset` parameter: `text/*` and JavaScript.
    ///
    /// JSON and XML determine their encoding themselves (RFC 8259 §8.1, RFC 7303 §3).
    package var takesCharset: Bool {
        essence.hasPrefix("text/") || essence == "application/javascript" || essence == "application/ecmascript"
    }

    /// The type in the form of a `Content-Type` header field.
    ///
    /// Parameter values that are not tokens are in quotation marks.
    package var description: String {
        parameters.reduce(essence) { text, parameter in
            let isToken = !parameter.value.isEmpty && parameter.value.utf8.allSatisfy(\.isTokenCharacter)
            return "\(text); \(parameter.name)=\(isToken ? parameter.value : Self.quotedString(parameter.value))"
        }
    }

    private static func quotedString(_ value: String) -> String {
        let escaped = value.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }
        return "\"" + escaped.joined() + "\""
    }

    /// The same type, with `charset=utf-8` added if ``takesCharset`` is true and there is no charset yet.
    var withCharset: MediaType {
        guard takesCharset, charset == nil else { return self }
        return MediaType(essence: essence, parameters: parameters + [Parameter(name: "charset", value: "utf-8")])
    }
}

/// A scanner that reads the parts of a media type from left to right.
private struct MediaTypeScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    mutating func skip(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    mutating func token() -> String? {
        let token = rest.prefix { $0.isTokenCharacter }
        rest = rest[token.endIndex...]
        return token.isEmpty ? nil : String(token)
    }

    /// Reads `*( OWS ";" OWS [ parameter ] )` up to the end of the text; nil if the text holds anything else.
    mutating func parameters() -> [MediaType.Parameter]? {
        var parameters: [MediaType.Parameter] = []
        while true {
            rest = rest.drop(while: \.isBlank)
            if rest.isEmpty { return parameters }
            guard skip(UInt8(ascii: ";")) else { return nil }
            rest = rest.drop(while: \.isBlank)
            if rest.isEmpty || rest.first == UInt8(ascii: ";") { continue }
            guard let name = token(), skip(UInt8(ascii: "=")),
                let value = rest.first == UInt8(ascii: "\"") ? quotedString() : token()
            else { return nil }
            parameters.append(MediaType.Parameter(name: name.lowercased(), value: value))
        }
    }

    /// Reads a `quoted-string` (RFC 9110 §5.6.4); nil if it is malformed.
    private mutating func quotedString() -> String? {
        rest.removeFirst()
        var value: [UInt8] = []
        while var byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return String(decoding: value, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = rest.popFirst() else { return nil }
                byte = escaped
            }
            if byte.isControl, byte != UInt8(ascii: "\t") { return nil }
            value.append(byte)
        }
        return nil
    }
}

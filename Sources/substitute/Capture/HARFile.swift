import Foundation
import LocalSubstitutionCache

/// What a browser or proxy recorded of a page: an HTTP Archive (HAR 1.2).
///
/// Programs write it in many ways, and wrongly in some; nothing of it is believed that is not looked at.
/// http://www.softwareishard.com/blog/har-12-spec/
struct HARFile {
    /// One request and its answer.
    struct Exchange {
        let method: String
        let url: String
        /// 0 or less when there was no answer.
        let status: Int
        /// The answer's `Content-Type`, or what the program took it for.
        let type: MediaType?
        /// What the server called the version.
        let version: RemoteVersion
        /// Whether the request named who asked, by `Authorization`.
        let isAuthorized: Bool
        /// Whether the answer may be meant for one person: asked for with cookies, and not to be kept by others.
        let isPersonal: Bool
        let body: Body
        /// The length of the body as recorded, in bytes; nil when it is not known.
        let size: Int?
    }

    /// The body as it was recorded.
    enum Body {
        case missing
        case text(String)
        case base64(String)
        case unknown(encoding: String)
    }

    /// In the order of the recording.
    let exchanges: [Exchange]

    /// Reads a recording.
    ///
    /// - Throws: ``ToolError`` when it is none.
    init(_ data: Data, name: String) throws(ToolError) {
        guard let root = Self.json(in: data) else {
            let problem = JSONProblem(in: data)
            let place = problem.map { "\(visible(name)):\($0.line):\($0.column): \($0.message)" }
            throw ToolError("\(quoted(name)) is no capture (HAR): \(place ?? "it cannot be read as JSON")")
        }
        guard let log = (root as? [String: Any])?["log"] as? [String: Any], let entries = log["entries"] as? [Any]
        else {
            throw ToolError(
                "\(quoted(name)) is no capture (HAR): it has no \"log\" with \"entries\"; in the browser's developer tools "
                    + "choose Network, load the page, and export all as HAR with content"
            )
        }
        exchanges = entries.map { Exchange($0 as? [String: Any] ?? [:]) }
    }

    /// Whether a text may be a recording, and no list of URLs.
    static func isLikely(_ data: Data) -> Bool {
        let start = data.prefix(200).drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }
        return start.first == UInt8(ascii: "{") || jsonp(in: start) != nil
    }

    /// The value that a text holds, also in a call of JavaScript (JSONP), and with characters that are broken.
    private static func json(in data: Data) -> Any? {
        let text = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
        func parse(_ data: Data) -> Any? {
            try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        }
        if let value = parse(Data(text)) { return value }
        let inner = jsonp(in: text) ?? text
        return parse(Data(inner)) ?? parse(repaired(Data(inner)))
    }

    /// What stands between the brackets of `name(…);`.
    private static func jsonp(in text: Data) -> Data? {
        let rest = text.drop { $0 <= 0x20 }
        let isName = { (byte: UInt8) in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || "_$.".utf8.contains(byte)
        }
        let name = rest.prefix(while: isName)
        let open = rest[name.endIndex...].drop { $0 == 0x20 }
        guard !name.isEmpty, open.first == UInt8(ascii: "(") else { return nil }
        let end = open.lastIndex(of: UInt8(ascii: ")")) ?? open.endIndex
        return open[(open.startIndex + 1)..<max(end, open.startIndex + 1)]
    }

    /// The text in UTF-8, with U+FFFE, which no text has, for what is no character or half of one.
    private static func repaired(_ data: Data) -> Data {
        let bytes = wellFormed(data)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        func unit(at index: Int) -> UInt16? {
            guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
            else {
                return nil
            }
            return UInt16(String(decoding: bytes[(index + 2)..<(index + 6)], as: UTF8.self), radix: 16)
        }
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\\") else {
                result.append(bytes[index])
                index += 1
                continue
            }
            guard let first = unit(at: index), 0xD800...0xDFFF ~= first else {
                result += bytes[index..<min(index + 2, bytes.count)]
                index += 2
                continue
            }
            if first < 0xDC00, let second = unit(at: index + 6), 0xDC00...0xDFFF ~= second {
                result += bytes[index..<(index + 12)]
                index += 12
            } else {
                result += "\\ufffe".utf8
                index += 6
            }
        }
        return Data(result)
    }

    private static func wellFormed(_ data: Data) -> [UInt8] {
        if let text = String(bytes: data, encoding: .utf8) { return Array(text.utf8) }
        var result: [UInt8] = []
        result.reserveCapacity(data.count)
        var (rest, parser) = (data.makeIterator(), Unicode.UTF8.ForwardParser())
        while true {
            switch parser.parseScalar(from: &rest) {
            case .valid(let scalar): result += scalar
            case .error: result += "\u{FFFE}".utf8
            case .emptyInput: return result
            }
        }
    }
}

extension HARFile.Exchange {
    /// Reads one entry, or as much as there is of it.
    fileprivate init(_ entry: [String: Any]) {
        let request = entry["request"] as? [String: Any] ?? [:]
        let response = entry["response"] as? [String: Any] ?? [:]
        let content = response["content"] as? [String: Any] ?? [:]
        let (asked, sent) = (Self.fields(request["headers"]), Self.fields(response["headers"]))
        url = request["url"] as? String ?? ""
        method = (request["method"] as? String ?? "GET").uppercased()
        status = Self.number(response["status"]) ?? 0
        let types = [sent["content-type"], content["mimeType"] as? String]
        type = types.compactMap(\.self).lazy.compactMap { MediaType($0) }.first {
            $0.isConcrete && $0.essence != "x-unknown"
        }
        version = RemoteVersion(etag: sent["etag"], lastModified: sent["last-modified"])
        isAuthorized = asked["authorization"] != nil
        let control = sent["cache-control", default: ""].lowercased()
        isPersonal = asked["cookie"] != nil && (control.contains("private") || control.contains("no-store"))
        size = Self.number(content["size"]).flatMap { $0 > 0 ? $0 : nil }
        let encoding = (content["encoding"] as? String ?? "").lowercased()
        if let text = content["text"] as? String, !text.isEmpty {
            switch encoding {
            case "base64": body = .base64(text)
            case "", "utf-8", "utf8": body = .text(text)
            default: body = .unknown(encoding: encoding)
            }
        } else {
            body = .missing
        }
    }

    /// Fields by their names in small letters; those of HTTP/2 that begin with ":" are none.
    ///
    /// A value ends with its line: what follows is another field, or a fold of old.
    private static func fields(_ value: Any?) -> [String: String] {
        var fields: [String: String] = [:]
        for case let field as [String: Any] in value as? [Any] ?? [] {
            guard let name = field["name"] as? String, let value = field["value"] as? String else { continue }
            let line = value.unicodeScalars.prefix { $0 != "\n" && $0 != "\r" }
            fields[name.lowercased()] = String(line).trimmingCharacters(in: .whitespaces)
        }
        return fields
    }

    private static func number(_ value: Any?) -> Int? {
        if let text = value as? String { return Int(text) }
        guard let number = (value as? NSNumber)?.doubleValue, abs(number) < 1e15 else { return nil }
        return Int(number)
    }

    /// The bytes of the body.
    ///
    /// - Throws: ``ToolError`` when they were not recorded, or not as they were.
    var bytes: Data {
        get throws(ToolError) {
            switch body {
            case .missing:
                throw ToolError("its body was not recorded; export the capture with content")
            case .unknown(let encoding):
                throw ToolError("its body was recorded in an encoding that is not known, \(quoted(encoding))")
            case .text(let text):
                if text.unicodeScalars.contains("\u{FFFE}") {
                    throw ToolError("its body was recorded with broken characters")
                }
                return Data(text.utf8)
            case .base64(let text):
                let plain = text.filter { !$0.isWhitespace }
                guard let data = Data(base64Encoded: plain) else {
                    throw ToolError("its body was recorded as base64 that cannot be decoded")
                }
                if let size, data.count < size {
                    throw ToolError("only \(data.count) of its \(size) bytes were recorded")
                }
                return data
            }
        }
    }

    /// The type of the bytes that ``bytes`` gives: what was recorded as text is UTF-8 now, whatever it was.
    var typeOfBytes: MediaType? {
        guard case .text = body, let type, type.takesCharset || type.charset != nil else { return type }
        return MediaType(type.essence)
    }
}

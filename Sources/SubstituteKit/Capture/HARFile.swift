import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit
import SubstitutionChecking
import SubstitutionRules

/// A recording of a page by a browser or proxy: an HTTP Archive (HAR 1.2).
///
/// Programs write this format in many ways, some of them wrong, so every value is checked before it is used.
/// http://www.softwareishard.com/blog/har-12-spec/
struct HARFile {
    /// One request and its response.
    struct Exchange {
        let method: String
        let url: String
        /// The status; 0 or less if there was no response.
        let status: Int
        /// The response's `Content-Type`, or the type that the recording program assumed.
        let type: MediaType?
        /// The validators (such as `ETag`) that the server sent with the response, and what decided between versions.
        let version: RemoteVersion
        var sharing = Sharing()
        /// True for the answer to the request for a page, and not to a request by a page's script.
        let isPage: Bool
        fileprivate(set) var body: Body
        /// The recording program's comment on a body that it left out.
        let comment: String?
        /// The response's freshness lifetime in seconds, according to its `Cache-Control`.
        ///
        /// It is 0 if the server wants a new request each time, and nil if the server does not say.
        let lifetime: Int?
        /// This library's own record of the response; nil in recordings by other programs.
        let recorded: RecordedAnswer?
        /// The length of the body in bytes, according to the recording; nil if unknown.
        let size: Int?
    }

    /// The body as it was recorded.
    enum Body {
        case text(String)
        case base64(String)
        /// A body that this run has recorded by itself.
        case recorded(@Sendable () throws -> Data)
        /// The reason why there are no bytes, as a clause.
        case missing(String)
    }

    /// The exchanges, in the order of the recording.
    let exchanges: [Exchange]
    /// True if an app recorded its own requests with this library.
    private let isOfApp: Bool

    /// Reads a recording; members that are missing, or of another kind, are ignored.
    ///
    /// - Parameters:
    ///   - data: The recording.
    ///   - name: The recording's name in messages.
    /// - Throws: ``ToolError`` if `data` is not a recording.
    init(_ data: Data, name: String) throws(ToolError) {
        if Self.isArchive(data) {
            throw ToolError("\(quoted(name)) is compressed; unpack it, and name the recording (.har) that it holds")
        }
        let recording: Recording
        do {
            let text = UnicodeText.utf8(data)
            // Foundation would take quadratic time.
            guard text.isStreamSafe, !Self.hasEscapedMarks(text) else { throw Self.error(data, name) }
            recording = try JSONDecoder().decode(Recording.self, from: text)
        } catch let error as ToolError {
            throw error
        } catch DecodingError.dataCorrupted {
            throw Self.error(data, name)
        } catch {
            throw ToolError(
                "\(quoted(name)) is not a recording (HAR): it has no \"log\" with \"entries\"; \(Self.howToRecord)"
            )
        }
        exchanges = recording.log.entries.map { Exchange($0.value) }
        isOfApp = recording.log.creator?.value?.name?.value == HAREntry.creator
    }

    /// Checks that the recording says anything.
    ///
    /// - Throws: ``ToolError`` if there are no entries. A file is then neither used nor unused.
    func checkForEntries(_ name: String) throws(ToolError) {
        guard exchanges.isEmpty else { return }
        throw ToolError(
            "the recording \(quoted(name)) has no entries: "
                + (isOfApp
                    ? "the app made no request, or it was killed before they were written; call stop() before it ends"
                    : "start recording before the page is loaded, and export all as HAR with content")
        )
    }

    private static let howToRecord =
        "in the browser's developer tools choose Network, load the page, and export all as HAR with content"

    private static func error(_ data: Data, _ name: String) -> ToolError {
        let place = JSONProblem(in: data).map { "\(visible(name)):\($0.line):\($0.column): \($0.message)" }
        let isCut = isLikely(data) && UnicodeText.utf8(data).last { $0 > 0x20 } != UInt8(ascii: "}")
        let remedy = isCut ? "; the file ends too early, so export it again" : isLikely(data) ? "" : "; \(howToRecord)"
        return ToolError("\(quoted(name)) is not a recording (HAR): \(place ?? "it cannot be read as JSON")\(remedy)")
    }

    /// Returns whether escapes mean more than 30 combining marks in a row.
    ///
    /// Such a text is not stream-safe (UAX #15 §13).
    private static func hasEscapedMarks(_ text: Data) -> Bool {
        text.withUnsafeBytes { bytes in
            var (run, end) = (0, 0)
            for index in bytes.indices.dropLast(5)
            where bytes[index] == UInt8(ascii: "\\") && bytes[index + 1] == UInt8(ascii: "u") {
                let digits = bytes[(index + 2)..<(index + 6)]
                guard digits.allSatisfy(\.isHexDigit),
                    let scalar = Unicode.Scalar(digits.reduce(0) { $0 << 4 | UInt32($1.hexValue) }),
                    scalar.properties.canonicalCombiningClass != .notReordered
                else { continue }
                (run, end) = (index == end ? run + 1 : 1, index + 6)
                if run > 30 { return true }
            }
            return false
        }
    }

    /// True for an archive of ZIP or gzip.
    static func isArchive(_ data: Data) -> Bool { data.starts(with: "PK".utf8) || data.starts(with: [0x1F, 0x8B]) }

    /// Returns true if a text looks like a recording, and not like a list of URLs.
    static func isLikely(_ data: Data) -> Bool {
        UnicodeText.utf8(data.prefix(200)).first { $0 > 0x20 } == UInt8(ascii: "{")
    }

    /// Returns true if a text is an object with a `log`, and therefore not a manifest.
    ///
    /// Also returns true if the text is truncated, but begins like such an object.
    static func hasLog(_ data: Data) -> Bool {
        let text = UnicodeText.utf8(data)
        if isLikely(data), let root = try? JSONDecoder().decode(Root.self, from: text) { return root.log != nil }
        return String(decoding: text.prefix(100), as: UTF8.self).prefixMatch(of: logStart) != nil
    }

    nonisolated(unsafe) private static let logStart = /\s*\{\s*"log"\s*:/

}

extension RecordedAnswer {
    /// Reads `_substitution`, the field that this library adds to an exchange; nil if the value is not such a field.
    fileprivate init?(_ field: Recording.Answer?) {
        guard let field, let answerer = field.answeredBy?.value.flatMap(Answerer.init) else { return nil }
        self.init(answerer)
        (file, line) = (field.file?.value, field.line?.value)
        (times, bytes) = (max(1, field.times?.value ?? 1), max(0, field.bytes?.value ?? 0))
        (ended, isShortened) = (field.ended?.value, field.isShortened?.value)
    }
}

extension HARFile.Exchange {
    /// Reads what this run has recorded as it reads a file.
    init(_ recorded: Recorder.Recorded) throws {
        self.init(try JSONDecoder().decode(Recording.Entry.self, from: recorded.entry.json))
        body = recorded.body.map(HARFile.Body.recorded) ?? body
    }

    /// The reason why an entry of an app's recording does not name a URL whole, as a clause; nil if it does.
    ///
    /// Of a host that its developer did not name, a recording has one entry with a comment, or the names in a query.
    var vagueness: String? {
        guard isWithoutBody, recorded?.isShortened == true else { return nil }
        if let comment, url.hasSuffix("/"), url.split(separator: "/").count == 2 { return comment }
        let host = quoted(URL(string: url)?.host ?? "")
        return "the values of its query were not recorded; record again with hosts: [\(host)] in the app"
    }

    /// True if an app has recorded a response of the network without its body.
    var isWithoutBody: Bool {
        guard let recorded, case .missing = body else { return false }
        return [.network, .cache].contains(recorded.answeredBy)
    }

    /// Reads one entry.
    fileprivate init(_ entry: Recording.Entry?) {
        let (request, response) = (entry?.request?.value, entry?.response?.value)
        let content = response?.content?.value
        let (asked, sent) = (Self.fields(request?.headers), Self.fields(response?.headers))
        url = request?.url?.value ?? ""
        method = printable((request?.method?.value ?? "GET").uppercased())
        // Chromium also gives a status to a response that broke off.
        status = response?._error?.value?.isEmpty == false ? 0 : response?.status?.value ?? 0
        let types = [sent["content-type"], content?.mimeType?.value]
        type = types.compactMap(\.self).lazy.compactMap { MediaType($0) }.first {
            $0.isConcrete && $0.essence != "x-unknown"
        }
        var version = RemoteVersion.sent { sent[$0.lowercased()] }
        let deciding = RemoteVersion.asked(asked)
        version.asked = deciding.isEmpty ? nil : deciding
        self.version = version
        sharing.ask(method, asked, sendsCookies: request?.cookies?.value?.isEmpty == false)
        sharing.receive { sent[$0.lowercased()] }
        isPage = entry?._resourceType?.value?.lowercased() == "document"
        lifetime = Self.lifetime(sent["cache-control", default: ""].lowercased())
        recorded = RecordedAnswer(entry?._substitution?.value)
        size = (content?.size?.value).flatMap { $0 > 0 ? $0 : nil }
        comment = [content?.comment?.value, entry?.comment?.value].compactMap(\.self).first { !$0.isEmpty }
        let (encoding, text) = ((content?.encoding?.value ?? "").lowercased(), content?.text)
        if let text, text.isString, text.value?.isEmpty != true {
            switch (encoding, text.value) {
            // It has a lone surrogate, or bytes that are not UTF-8.
            case (_, nil): body = .missing("its body was recorded with broken characters")
            case ("base64", let string?): body = .base64(string)
            case ("", let string?), ("utf-8", let string?), ("utf8", let string?): body = .text(string)
            default: body = .missing("its body was recorded in an unknown encoding, \(quoted(encoding))")
            }
        } else if let name = content?._file?.value {
            // Playwright stores bodies so.
            body = .missing("its body is in the file \(quoted(name)); record with the content embedded")
        } else {
            // Programs also state a size of 0 for a body that they have not recorded.
            let isStated = text?.isString == true || response?.bodySize?.value == 0
            let length = sent["content-encoding"] == nil ? sent["content-length"].flatMap { Int($0) } ?? 0 : 0
            let isEmpty = isStated && length == 0 && comment == nil && content?.size?.value == 0
            let reason = comment ?? "its body was not recorded; export the recording with content"
            body = isEmpty ? .base64("") : .missing(reason)
        }
    }

    /// Returns header fields, keyed by their lowercase names.
    ///
    /// Several fields of one name are one list (RFC 9110 §5.3), and so are the lines of a value, in which Chromium
    /// writes such fields. Of a name that has no list, the last field counts, with its first line.
    private static func fields(_ list: Loose<[Loose<Recording.Field>]>?) -> [String: String] {
        var fields: [String: String] = [:]
        for field in list?.value ?? [] {
            guard let name = field.value?.name?.value, let value = field.value?.value?.value else { continue }
            let lines = value.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            let key = name.lowercased()
            let isList = ["cache-control", "vary", "content-security-policy"].contains(key)
            fields[key] = isList ? ([fields[key]].compactMap(\.self) + lines).joined(separator: ", ") : lines[0]
        }
        return fields
    }

    /// Returns the freshness lifetime in seconds (RFC 9111 §5.2.2).
    ///
    /// For `immutable` (RFC 8246) without `max-age`, the lifetime is a year.
    private static func lifetime(_ control: String) -> Int? {
        if control.contains("no-cache") || control.contains("no-store") { return 0 }
        if let age = control.firstMatch(of: maximumAge) { return Int(age.1) ?? .max }
        return control.contains("immutable") ? 365 * 24 * 3600 : nil
    }

    nonisolated(unsafe) private static let maximumAge = /max-age="?(\d+)/

    /// The bytes of the body.
    ///
    /// - Throws: ``ToolError`` if the bytes were not recorded, or not recorded faithfully.
    var bytes: Data {
        get throws(ToolError) {
            switch body {
            case .missing(let reason): throw ToolError(reason)
            case .recorded(let read):
                do { return try read() } catch {
                    throw ToolError("its recorded body cannot be read: \(FileSystem.reason(error))")
                }
            case .text(let string):
                let data = Data(string.utf8)
                try checkIsText(data)
                if let size, Self.isPart(data.count, of: size) { throw Self.shortage(data.count, of: size) }
                return data
            case .base64(let string):
                let text = Data(string.utf8)
                guard let data = Self.decoded(text) else {
                    throw ToolError("its body was recorded as base64 that cannot be decoded")
                }
                // Some programs give the number of base64 characters as the size.
                if let size, data.count < size, size != text.count { throw Self.shortage(data.count, of: size) }
                return data
            }
        }
    }

    /// Refuses a binary body that was recorded as a text, which replaces some of its bytes by U+FFFD.
    private func checkIsText(_ text: Data) throws(ToolError) {
        let types = [type, MediaType(fileName: String(url.prefix { !"?#".contains($0) }))]
        let isBinary = types.contains { $0?.isBinary == true } && text.contains { $0 >= 0x80 }
        guard isBinary || type?.isUnknown ?? true && text.range(of: Data("\u{FFFD}".utf8)) != nil else { return }
        throw ToolError("its bytes were recorded as text, which loses some of them; load it with substitute add")
    }

    /// Decodes base64, which may extend over several lines.
    private static func decoded(_ base64: Data) -> Data? {
        Data(base64Encoded: base64) ?? Data(base64Encoded: base64.filter { $0 > 0x20 })
    }

    private static func shortage(_ count: Int, of size: Int) -> ToolError {
        ToolError("only \(count) of its \(size) bytes were recorded")
    }

    /// Returns true if a text of `count` bytes is less than half of a body of `size` bytes.
    ///
    /// A complete text may have fewer bytes than the recording program counted. UTF-16 has two bytes for each letter,
    /// and a byte-order mark. gzip adds about twenty bytes to a text that it cannot make smaller.
    private static func isPart(_ count: Int, of size: Int) -> Bool { 2 * count + 32 < size }

    /// True if ``bytes`` are a text that the recording program has decoded.
    var isDecoded: Bool {
        guard case .text = body, let type else { return false }
        return !type.isBinary && !type.isUnknown
    }

    /// The media type of ``bytes``; a body that was recorded as text is now UTF-8, whatever its original encoding.
    var typeOfBytes: MediaType? {
        guard case .text = body, let type, type.takesCharset || type.charset != nil else { return type }
        return MediaType(type.essence)
    }
}

/// The members of a recording that the tool reads.
private struct Recording: Decodable {
    let log: Log

    struct Log: Decodable {
        let creator: Loose<Creator>?
        let entries: [Loose<Entry>]
    }

    struct Creator: Decodable { let name: Loose<String>? }

    struct Entry: Decodable {
        let request: Loose<Request>?
        let response: Loose<Response>?
        let comment, _resourceType: Loose<String>?
        let _substitution: Loose<Answer>?
    }

    struct Field: Decodable { let name, value: Loose<String>? }

    struct Request: Decodable {
        let method, url: Loose<String>?
        let headers, cookies: Loose<[Loose<Field>]>?
    }

    struct Response: Decodable {
        let status, bodySize: Number?
        let headers: Loose<[Loose<Field>]>?
        let content: Loose<Content>?
        let _error: Loose<String>?
    }

    struct Content: Decodable {
        let size: Number?
        let mimeType, text, encoding, comment, _file: Loose<String>?
    }

    struct Answer: Decodable {
        let answeredBy, file, ended: Loose<String>?
        let line, times, bytes: Number?
        let isShortened: Loose<Bool>?
    }

    /// A number, or a text with one; nil for anything else.
    struct Number: Decodable {
        let value: Int?

        init(from decoder: any Decoder) throws {
            let one = try decoder.singleValueContainer()
            let number = (try? one.decode(Double.self)) ?? (try? one.decode(String.self)).flatMap(Double.init)
            value = number.flatMap { abs($0) < 1e15 ? Int($0) : nil }
        }
    }
}

/// An object that may have a member with the name `log`.
private struct Root: Decodable {
    let log: Loose<Bool>?
}

/// A value that is nil if it is of another kind than the tool expects.
private struct Loose<Value: Decodable>: Decodable {
    let value: Value?
    /// True for a string, even one that cannot be read.
    let isString: Bool

    init(from decoder: any Decoder) throws {
        let one = try decoder.singleValueContainer()
        do {
            (value, isString) = (try one.decode(Value.self), Value.self == String.self)
        } catch DecodingError.typeMismatch, DecodingError.valueNotFound {
            (value, isString) = (nil, false)
        } catch {
            (value, isString) = (nil, Value.self == String.self)
        }
    }
}

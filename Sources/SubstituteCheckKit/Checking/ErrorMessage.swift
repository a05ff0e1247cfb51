import Foundation
import LocalSubstitutionCache

/// A message that a server or a storage service sends instead of a file.
struct ErrorMessage {
    /// The part of the message by which a user recognises it.
    let text: String
    /// The kind of the message, with its article.
    let what: String
    let remedy: String

    /// Finds the message in a file; nil if the file has other content.
    init?(_ file: FileSample) {
        let code = file.beginning.prefixMatch(of: Self.storageError).map { String($0.2) }
        if let text = code ?? Self.sentence(file) ?? Self.json(file) {
            (self.text, what, remedy) = (text, "a server's error message", "download it again from the right address")
        } else if let page = ErrorPage(file) {
            (text, what, remedy) = (page.text, page.what, page.remedy)
        } else {
            return nil
        }
    }

    /// The code in the XML of S3 and similar services: `<Error><Code>AccessDenied</Code>`.
    ///
    /// Reference: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
    nonisolated(unsafe) private static let storageError = /(<\?xml[^>]*\?>\s*)?<Error>\s*<Code>([A-Za-z]+)<\/Code>/

    /// Returns a message that is the only line of a file, such as `404: Not Found`.
    private static func sentence(_ file: FileSample) -> String? {
        guard file.size < 200 else { return nil }
        let line = file.beginning.trimmingCharacters(in: .whitespacesAndNewlines)
        return line.contains("\n") ? nil : line.wholeMatch(of: knownSentence).map { _ in line }
    }

    nonisolated(unsafe) private static let knownSentence =
        /(error:? ?)?([45][0-9]{2})?[:\- ]*(not found|forbidden|access denied|accessdenied|unauthorized|bad gateway|bad request|internal server error|service unavailable|gateway time-?out|cannot get \/\S*|no such (file|key|bucket).*|(couldn.t|could not) find the requested file.*)[.!]*/
        .ignoresCase()

    /// Returns the beginning of an error that a server sent as JSON, such as `{"message":"Not Found"}`.
    ///
    /// In a file of any other type than a stylesheet, a script or a known format, such an object may be data, so its
    /// members have to say that something failed.
    private static func json(_ file: FileSample) -> String? {
        guard file.size < 2000, !file.type.isHTML,
            (file.isCode || file.expected != nil) && file.beginning.prefixMatch(of: messageStart) != nil
                || saysFailure(file)
        else { return nil }
        return String(file.beginning.prefix(60)).split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// The names of members with which services describe a failure.
    ///
    /// Among them are those of RFC 9457 §3.1 (problem details) and RFC 6749 §5.2 (OAuth).
    private static let failureNames: Set = [
        "error", "errors", "errordescription", "erroruri", "errorcode", "message", "msg", "detail", "details", "title",
        "type", "status", "statuscode", "statustext", "code", "success", "ok", "path", "timestamp", "instance", "hint",
        "documentationurl", "requestid", "traceid", "correlationid", "cause", "reason", "data", "result",
    ]

    /// True for a JSON object that has only members of failures, and says that something failed.
    private static func saysFailure(_ file: FileSample) -> Bool {
        guard file.beginning.first == "{", let data = file.bytes(upTo: file.size),
            let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
        else { return false }
        var members: [String: Any] = [:]
        for (name, value) in object where !(value is NSNull) { members[name.lowercased().filter(\.isLetter)] = value }
        guard failureNames.isSuperset(of: members.keys), members["data"] == nil, members["result"] == nil else {
            return false
        }
        let isError = ["error", "errors", "errordescription"].contains { name in
            switch members[name] {
            case let text as String: !text.isEmpty
            case let list as [Any]: !list.isEmpty
            case let object as [String: Any]: !object.isEmpty
            case let number as NSNumber: number.boolValue
            default: false
            }
        }
        let hasStatus = ["status", "statuscode", "code"].contains { name in
            (members[name] as? NSNumber).map { 400..<600 ~= $0.intValue } ?? false
        }
        let isFailed = ["success", "ok"].contains { (members[$0] as? NSNumber)?.boolValue == false }
        let isRefusal = ["message", "msg", "detail", "title", "reason"].contains { name in
            (members[name] as? String)?.firstMatch(of: refusal) != nil
        }
        return isError || hasStatus || isFailed || isRefusal
    }

    nonisolated(unsafe) private static let refusal =
        /\b(not found|unauthori[sz]ed|unauthenticated|forbidden|denied|authenticat\w*|credentials?|sign in|log ?in|expired|bad gateway|unavailable|internal server error)\b/
        .ignoresCase()

    nonisolated(unsafe) private static let messageStart =
        /\{\s*"(message|error|errors|status|statusCode|code|detail|success)"\s*:/
}

extension FileSample {
    /// The name of the tag with which the text begins, after any comments; nil if it begins with no tag.
    ///
    /// A stylesheet or a script may begin with an HTML comment (CSS Syntax §3.1, ECMA 262 §B.1.1).
    var firstTag: String? {
        var rest = beginning
        while rest.hasPrefix("<!--") {
            guard let end = rest.range(of: "-->") else { return nil }
            rest = rest[end.upperBound...].drop(while: \.isWhitespace)
        }
        return rest.prefixMatch(of: Self.tagStart).map { String($0.1) }
    }

    nonisolated(unsafe) private static let tagStart = /<([?!]?[A-Za-z][A-Za-z0-9:\-]*)/
}

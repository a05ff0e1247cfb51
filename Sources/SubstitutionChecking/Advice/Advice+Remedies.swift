import Foundation
import LocalSubstitutionCache

/// The parts of remedies: what was probably meant, and how to write it.
extension Advice {
    /// Returns advice on what to write instead of a list or `null` as the value of an entry.
    static func entry(meantBy value: JSONValue) -> String? {
        switch value.kind {
        case .null: return "the file's name in quotation marks, or remove the entry"
        case .array(let elements):
            guard elements.count == 1 else { return "one file's name in quotation marks, as only one answers" }
            switch elements[0].kind {
            case .string(let file): return "\(quoted(file)) without [ ]"
            case .object: return "the { } without the [ ] around it"
            default: return nil
            }
        default: return nil
        }
    }

    static func annotation(_ member: JSONMember) -> String? {
        CommentName.problem(of: member.name, member.value)
            ?? suggestion(for: member.name, among: ["$schema", "$version", "$comment"]).map {
                "\(quoted(member.name)) is not known; did you mean \"\($0)\"?"
            }
    }

    static func type(meantBy text: String) -> String? {
        let word = text.split(separator: ".").last.map(String.init) ?? ""
        // If there is a space or comma before the charset, put a semicolon in its place.
        let repaired = text.replacing(charsetBehindSpace) { "\($0.1); charset" }
        return MediaType(fileName: "x.\(word)")?.essence ?? (MediaType(repaired)?.isConcrete == true ? repaired : nil)
    }

    nonisolated(unsafe) private static let charsetBehindSpace = /([^, ])[, ]+charset/

    /// Returns the whole message about a text that is not a day.
    static func message(ofDay text: String) -> String {
        if CalendarDay.isWritten(as: text) {
            return text < "2000"
                ? "\(quoted(text)) is before 2000; write a later year"
                : "there is no such day as \(quoted(text)) (YYYY-MM-DD)"
        }
        let remedy =
            days(meantBy: text).map { "write \($0)" } ?? "write one, such as \"2027-03-31\", or leave \"until\" out"
        return "\(quoted(text)) is not a day in the form YYYY-MM-DD; \(remedy)"
    }

    private static func days(meantBy text: String) -> String? {
        // Some programs write a time after the day, so drop the time.
        let day = text.dropFirst(10).first.map { "T ".contains($0) } ?? false ? String(text.prefix(10)) : text
        let meant = CalendarDay(day).map { [$0] } ?? CalendarDay.days(meantBy: day)
        return meant.isEmpty ? nil : meant.map { "\"\($0)\"" }.joined(separator: " or ")
    }

    /// Returns the JSON object to write instead of a header field in the syntax of HTTP, `Name: value`.
    static func header(meantBy value: JSONValue) -> String? {
        guard case .string(let text) = value.kind else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1).map { $0.drop { $0 == " " } }
        return parts.count == 2 ? "{ \(quoted(String(parts[0]))): \(quoted(String(parts[1]))) }" : nil
    }

    /// Returns `name` without one or two invalid characters at its end.
    ///
    /// Nil if the rest is still not a field name.
    static func headerName(meantBy name: String) -> String? {
        let plain = name.prefix { $0.utf8.allSatisfy(\.isTokenCharacter) }
        return plain.isEmpty || plain.count + 2 < name.count ? nil : String(plain)
    }

    static func parameterName(meantBy written: String) -> String? {
        let plain = written.drop { "?&".contains($0) }.prefix { !"&=#".contains($0) }
        // The start of a URL is not a name.
        return plain.isEmpty || plain.contains("/") ? nil : String(plain)
    }

    static func queryRule(meantBy value: JSONValue) -> String? {
        // A URL is not a list of names, so do not split it.
        guard case .string(let word) = value.kind, !word.contains("/") else { return nil }
        return ["true", "false"].contains(word)
            ? "\(word) without quotation marks"
            : "[\(word.split { ",&; ".contains($0) }.map { quoted(String($0)) }.joined(separator: ", "))]"
    }

    nonisolated(unsafe) private static let time =
        /([0-9]{1,6}(?:\.[0-9]{1,6})?) *(s|secs?|seconds?|ms|m|mins?|minutes?)/

    static func remedy(forCondition word: String) -> String? {
        let conditions = word.split { ",; /|".contains($0) }.map { part in
            Int(part).flatMap { 400..<600 ~= $0 ? String(part) : nil }
                ?? (Substitution.Condition.words[part.lowercased()] == nil ? nil : "\"\(part.lowercased())\"")
        }
        if conditions.count > 1, !conditions.contains(nil) {
            return "write [\(conditions.compactMap(\.self).joined(separator: ", "))]"
        }
        if let number = Int(word) {
            return 1...60 ~= number ? "write \"\(number)s\"" : "write \(number) without quotation marks"
        }
        if ["always", "never", "online", "true"].contains(word.lowercased()) {
            return "for a file that always answers, leave \"when\" out"
        }
        if let match = word.lowercased().wholeMatch(of: time), let number = Double(match.1) {
            let seconds = (match.2 == "ms" ? number / 1000 : match.2.hasPrefix("m") ? number * 60 : number).rounded(.up)
            return 1...60 ~= seconds ? "write \"\(Int(seconds))s\"" : "write a time from \"1s\" to \"60s\""
        }
        return suggestion(for: word, among: ["offline", "4xx", "5xx"]).map { "did you mean \"\($0)\"?" }
    }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

extension RemoteCheck.Finding {
    /// The state in one word.
    var word: String {
        switch state {
        case .current: "current"
        case .differs: "differs"
        case .gone: "gone"
        case .unknown: "unknown"
        case .exempt: "exempt"
        }
    }

    /// True if the server's bytes differ from the file's, or if the server no longer has the resource.
    var isOutdated: Bool { ["differs", "gone"].contains(word) }

    /// True if a designer should look at this finding.
    var needsAttention: Bool { isOutdated || word == "unknown" }

    /// The note on the file's card in the preview; nil if the card has no note.
    var mark: String? {
        switch state {
        case .differs: "outdated: its server has another version"
        case .gone(let status): "outdated: its server answers \(status)"
        case .current, .unknown, .exempt: nil
        }
    }

    /// The reason for the state; nil if the file is current or differs.
    var reason: String? {
        switch state {
        case .current, .differs: nil
        case .gone(let status): "its server answers \(status)"
        case .unknown(let reason), .exempt(let reason): reason
        }
    }

    /// The day on which the local file was last changed, as `YYYY-MM-DD`.
    var date: String? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: copy.substitution.realPath)
        return (attributes?[.modificationDate] as? Date).map { Self.day.string(from: $0) }
    }

    /// The size and the date of the server's version; nil if the file does not differ.
    ///
    /// Each of the two is also nil if the server did not send it.
    var remote: (size: Int?, date: String?) {
        guard case .differs(let size, let lastModified) = state else { return (nil, nil) }
        return (size, lastModified.flatMap { Self.httpDate.date(from: $0) }.map { Self.day.string(from: $0) })
    }

    var cells: [String] {
        let here = [ByteCount(copy.substitution.size).description, date.map { "of \($0)" }].compactMap(\.self)
        var text = reason ?? ""
        if case .differs = state {
            let there = [remote.size.map { ByteCount($0).description }, remote.date.map { "of \($0)" }].compactMap(
                \.self
            )
            text =
                "here \(here.joined(separator: " "))"
                + (there.isEmpty ? "" : ", there \(there.joined(separator: " "))")
        }
        return [word, visible(copy.substitution.url), visible(copy.substitution.file), visible(text)]
    }

    private static let day = formatter("yyyy-MM-dd")
    /// IMF-fixdate (RFC 9110 §5.6.7).
    private static let httpDate = formatter("EEE, dd MMM yyyy HH:mm:ss 'GMT'")

    private static func formatter(_ format: String) -> DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = format
        return formatter
    }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

extension RemoteCheck.Finding {
    /// True if a designer should look at this finding.
    var needsAttention: Bool { [.differs, .conflict, .empty, .gone].contains(state) }

    /// The note on the file's card in the preview; nil if the card has no note.
    var mark: String? {
        switch state {
        case .differs: "outdated: its server has another version"
        case .conflict: "edited here: its server has another version"
        case .edited: "edited here"
        case .gone, .empty: "outdated: \(reason ?? "")"
        case .unknown: "not compared: \(reason ?? "")"
        case .current, .exempt: nil
        }
    }

    /// Returns the commands that decide a conflict.
    func remedies(_ manifest: ManifestFile) -> [String] {
        guard state == .conflict else { return [] }
        let urls = [copy.substitution.url]
        return [
            "  to take its server's version: \(manifest.line("update", "--discard-edits", urls: urls))",
            "  to keep the file as it is: \(manifest.line("update", "--keep-edits", urls: urls))",
        ]
    }

    /// The day on which the local file was last changed, as `YYYY-MM-DD`.
    var date: String? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: copy.substitution.realPath)
        return (attributes?[.modificationDate] as? Date).map { Self.day.string(from: $0) }
    }

    /// The day of the server's version, as `YYYY-MM-DD`; nil if the server did not send it.
    var remoteDate: String? {
        lastModified.flatMap { Self.httpDate.date(from: $0) }.map { Self.day.string(from: $0) }
    }

    var cells: [String] {
        let here = [ByteCount(copy.substitution.size).description, date.map { "of \($0)" }].compactMap(\.self)
        var text = reason ?? ""
        if state == .differs, reason == nil {
            let there = [size.map { ByteCount($0).description }, remoteDate.map { "of \($0)" }].compactMap(\.self)
            text =
                "here \(here.joined(separator: " "))"
                + (there.isEmpty ? "" : ", there \(there.joined(separator: " "))")
        }
        return [state.rawValue, visible(copy.substitution.url), visible(copy.substitution.file), visible(text)]
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

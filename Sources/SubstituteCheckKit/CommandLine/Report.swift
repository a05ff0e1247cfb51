import Foundation
import LocalSubstitutionCache

/// The format in which a command reports.
package enum ReportFormat: String, CaseIterable {
    /// Text for users.
    case text
    /// One JSON object for each item.
    case json
    /// Workflow commands, which GitHub shows beside the lines of a change.
    case github
}

/// One thing that a command reports, such as a mistake, a file or a page.
package struct ReportItem {
    /// A remark that GitHub shows beside a line of a file, or above all files.
    package struct Annotation {
        let severity: String
        let title: String
        let message: String
        let place: (file: String, line: Int, column: Int)?

        /// - Parameters:
        ///   - severity: `error`, `warning` or `notice`.
        ///   - title: One or a few words.
        ///   - message: A sentence.
        ///   - place: The file with a line and a column in it; nil if the annotation is about no file.
        package init(
            _ severity: String,
            _ title: String,
            _ message: String,
            at place: (file: String, line: Int, column: Int)? = nil
        ) {
            (self.severity, self.title, self.message, self.place) = (severity, title, message, place)
        }

        /// The workflow command.
        ///
        /// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
        fileprivate var command: String {
            let properties = place.map {
                "file=\(Self.property(visible($0.file))),line=\($0.line),col=\($0.column),"
            }
            return "::\(severity) \(properties ?? "")title=\(Self.property(title))::\(Self.data(message))"
        }

        private static func data(_ text: String) -> String {
            text.replacingOccurrences(of: "%", with: "%25").replacingOccurrences(of: "\r", with: "%0D")
                .replacingOccurrences(of: "\n", with: "%0A")
        }

        private static func property(_ text: String) -> String {
            data(text).replacingOccurrences(of: ":", with: "%3A").replacingOccurrences(of: ",", with: "%2C")
        }
    }

    /// The cells of a row, which are aligned with those of the other items; empty for an item of lines.
    package var cells: [String]
    /// The lines that follow the row.
    package var lines: [String]
    /// The object for programs; nil for what only people want to know.
    package var object: JSONObject?
    package var annotations: [Annotation]

    package init(
        cells: [String] = [],
        lines: [String] = [],
        _ object: JSONObject? = nil,
        _ annotations: [Annotation] = []
    ) {
        (self.cells, self.lines, self.object, self.annotations) = (cells, lines, object, annotations)
    }
}

extension Console {
    /// Prints items in a format, and after them lines for people that sum them up.
    package func print(_ items: [ReportItem], sum: [String] = [], as format: ReportFormat) throws {
        let rows = items.map(\.cells).filter { !$0.isEmpty }
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        for item in items {
            switch format {
            case .text:
                let cells = zip(item.cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
                let row = String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
                ((cells.isEmpty ? [] : [row]) + item.lines).forEach(printHarmless)
            case .json: try item.object.map { printHarmless(try $0.text()) }
            case .github: item.annotations.forEach { printHarmless($0.command) }
            }
        }
        if format != .json { sum.forEach(printHarmless) }
    }

    /// Prints a line that the GitHub runner cannot mistake for a command: it looks for "##[" anywhere in a line.
    private func printHarmless(_ line: String) { print(line.replacingOccurrences(of: "##[", with: "## [")) }
}

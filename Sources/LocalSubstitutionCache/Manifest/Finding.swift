package import Foundation

/// An issue whose position is a byte offset, not yet a line and a column.
package struct Finding: Hashable, Sendable {
    package let offset: Int
    package let severity: ManifestIssue.Severity
    package var code: ManifestIssue.Code
    /// The cause of an error; `SubstitutionChecking` adds the remedy.
    package var message: String
    /// The problem with a file, and the file's path in the message; nil if the finding is not about a file.
    package private(set) var problem: FileProblem?
    package private(set) var path: String?

    package init(offset: Int, severity: ManifestIssue.Severity, code: ManifestIssue.Code, message: String) {
        (self.offset, self.severity, self.code, self.message) = (offset, severity, code, message)
    }
}

extension Finding {
    /// Creates a finding from an error in the JSON text of a manifest.
    init(_ error: JSONSyntaxError) {
        let code: ManifestIssue.Code =
            switch error.kind {
            case .syntax, .word, .end: .syntax
            case .encoding: .encoding
            case .nesting: .nesting
            }
        self.init(offset: error.offset, severity: .error, code: code, message: error.message)
    }

    /// Creates a finding from a problem with a file that the manifest names as `path`.
    init(_ problem: FileProblem, with path: String, at offset: Int) {
        self.init(offset: offset, severity: .error, code: Self.code(of: problem), message: problem.cause(of: path))
        (self.problem, self.path) = (problem, path)
    }

    static func code(of problem: FileProblem) -> ManifestIssue.Code {
        switch problem {
        case .missing, .dangling: .missingFile
        case .wrongCase: .wrongCase
        case .isFolder, .isFile, .notRegular: .wrongFileKind
        case .isLink, .replaced, .unreadable: .unreadableFile
        case .outside: .outsideFolder
        case .isLinkToFolder, .endless, .tooDeep, .exceeds(.names): .endlessFolder
        case .exceeds(.urls): .tooManyURLs
        case .exceeds(.bytes), .exceeds(.copies): .tooLong
        }
    }
}

/// The name of a manifest and the offsets of its lines.
///
/// With these, an offset in the manifest is converted to a line and a column.
package struct SourceText: Sendable {
    package let name: String
    private let lineStarts: [Int]

    /// Finds the lines of the text.
    ///
    /// Cost: one pass over the text.
    package init(name: String, bytes: Data) {
        self.name = name
        var starts = [0]
        bytes.withUnsafeBytes { bytes in
            for offset in bytes.indices where bytes[offset] == UInt8(ascii: "\n") { starts.append(offset + 1) }
        }
        lineStarts = starts
    }

    /// Returns the line and column of an offset, both from 1.
    ///
    /// As in the messages of the Swift compiler, columns are counted in UTF-8 bytes. A byte-order mark counts, too.
    package func position(of offset: Int) -> (line: Int, column: Int) {
        var (low, high) = (0, lineStarts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return (low + 1, offset - lineStarts[low] + 1)
    }
}

extension SourceText {
    /// Returns the findings as issues, without duplicates, in the order of the text.
    package func issues(_ findings: [Finding]) -> [ManifestIssue] {
        var seen: Set<Finding> = []
        let unique = findings.filter { seen.insert($0).inserted }
        let sorted = unique.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }
        return sorted.map { _, finding in
            let place = position(of: finding.offset)
            return ManifestIssue(
                severity: finding.severity,
                code: finding.code,
                message: finding.message,
                file: name,
                line: place.line,
                column: place.column
            )
        }
    }
}

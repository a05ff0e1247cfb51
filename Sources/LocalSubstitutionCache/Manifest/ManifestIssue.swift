public import Foundation

/// An error or a likely mistake in a manifest: its cause and its position.
///
/// The designers' tool and `LocalSubstitutionDevelopment` add the remedy.
///
/// ``description`` has the form that compilers use, so editors and build logs link each issue to its line:
///
///     manifest.json:7:40: error: "img/heder.png" does not exist; did you mean "img/header.png"?
public struct ManifestIssue: Hashable, Sendable, CustomStringConvertible {
    /// The severity of an issue, which decides whether the manifest can be used.
    public enum Severity: String, Sendable {
        /// The whole manifest is refused.
        case error
        /// The manifest works, though probably not as meant.
        case warning
    }

    /// The kind of an issue, for programs; users read ``ManifestIssue/message``.
    ///
    /// New kinds may be added.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The kind in kebab case, as the tool prints it.
        public let rawValue: String

        /// Creates a code, for example to compare it with a printed one.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The severity of the issue, which decides whether the manifest can be used.
    public package(set) var severity: Severity
    /// The kind of the issue.
    public let code: Code
    /// The cause; after it, in messages of the designers' tool and of `LocalSubstitutionDevelopment`, the remedy.
    ///
    /// Quoted text in the message is safe to print on one line.
    public let message: String
    /// The path or name of the manifest's file, as the caller gave it to the library.
    public let file: String
    /// The line, from 1.
    ///
    /// Issues of the manifest as a whole have line 1 and column 1.
    public let line: Int
    /// The column, from 1, counted in UTF-8 bytes.
    public let column: Int

    package init(severity: Severity, code: Code, message: String, file: String, line: Int, column: Int) {
        (self.severity, self.code, self.message) = (severity, code, message)
        (self.file, self.line, self.column) = (file, line, column)
    }

    /// `file:line:column: severity: message`.
    public var description: String { "\(visible(file)):\(line):\(column): \(severity.rawValue): \(message)" }
}

extension ManifestIssue.Code {
    // The text of the file.

    /// The file is not valid JSON (RFC 8259).
    public static let syntax = Self(rawValue: "syntax")
    /// The file is not UTF-8.
    public static let encoding = Self(rawValue: "encoding")
    /// Objects and lists are nested too deeply.
    public static let nesting = Self(rawValue: "nesting")
    /// The manifest itself cannot be found or read.
    public static let unreadableManifest = Self(rawValue: "unreadable-manifest")

    // Names and kinds of values.

    /// A value is of the wrong kind, for example a number where a string is needed.
    public static let wrongKind = Self(rawValue: "wrong-kind")
    /// A name occurs twice in one object, or two keys are the same URL.
    public static let duplicateKey = Self(rawValue: "duplicate-key")
    /// A field that entries do not have.
    public static let unknownField = Self(rawValue: "unknown-field")
    /// An entry without `file`.
    public static let missingField = Self(rawValue: "missing-field")

    // Fields.

    /// A key that is not a URL for which this library can substitute a file.
    public static let badURL = Self(rawValue: "bad-url")
    /// A path that is not a plain path below the manifest's folder.
    public static let badPath = Self(rawValue: "bad-path")
    /// A media type that RFC 9110 §8.3.1 does not allow, or a media type for a folder.
    public static let badType = Self(rawValue: "bad-type")
    /// A header name or value that RFC 9110 §5 does not allow.
    public static let badHeader = Self(rawValue: "bad-header")
    /// A header field that a manifest may not set.
    public static let reservedHeader = Self(rawValue: "reserved-header")
    /// A parameter name in `ignoreQuery` that cannot occur in a query.
    public static let badQueryRule = Self(rawValue: "bad-query-rule")
    /// A condition in `when` that does not exist.
    public static let badCondition = Self(rawValue: "bad-condition")
    /// A date in `until` that is not a day from 2000 to 9999 written as YYYY-MM-DD.
    public static let badDate = Self(rawValue: "bad-date")

    /// A number in `$version` that is not whole, negative or too large.
    public static let badVersion = Self(rawValue: "bad-version")

    // Files.

    /// A file or folder that does not exist.
    public static let missingFile = Self(rawValue: "missing-file")
    /// A name that has letters in a different case on disk.
    public static let wrongCase = Self(rawValue: "wrong-case")
    /// A folder where a file is meant, a file where a folder is meant, or something that is neither.
    public static let wrongFileKind = Self(rawValue: "wrong-file-kind")
    /// A file that cannot be opened or read.
    public static let unreadableFile = Self(rawValue: "unreadable-file")
    /// A path that leads out of the manifest's folder through a symbolic link.
    public static let outsideFolder = Self(rawValue: "outside-folder")
    /// Symbolic links to folders or to each other, or a folder that holds more files than can be intended.
    public static let endlessFolder = Self(rawValue: "endless-folder")
    /// More URLs than a manifest may map; each file of a folder is counted.
    public static let tooManyURLs = Self(rawValue: "too-many-urls")
    /// URLs and header fields, or files of a newer folder, that are longer in total than a manifest may make them.
    public static let tooLong = Self(rawValue: "too-long")
    /// A file with a mistake, such as content that does not match its type.
    public static let wrongContent = Self(rawValue: "wrong-content")
    /// A folder that cannot take the place of the one before it.
    ///
    /// See ``SubstitutionCache/adopt(_:)``.
    public static let notAdopted = Self(rawValue: "not-adopted")
    /// Changes to the manifest and its files cannot be detected.
    ///
    /// See ``SubstitutionCache/reloadWhenChanged(_:)``.
    public static let notWatched = Self(rawValue: "not-watched")
}

/// The errors for which a manifest was refused.
///
/// A cache throws these errors when it is created, and in ``SubstitutionCache/reload()``.
public struct ManifestError: Error, Equatable, CustomStringConvertible, LocalizedError {
    /// Every error found, in the order of the file.
    ///
    /// The list is never empty and holds no warnings. If the text is not JSON, the first syntax error is the only
    /// issue: nothing else is known of such a text.
    public let issues: [ManifestIssue]

    package init(_ issues: [ManifestIssue]) { self.issues = issues }

    /// The maximum number of issues in ``description``, because no developer reads more, and logs are limited.
    static let maximumDescribed = 100

    /// The issues, one per line in the form of ``ManifestIssue/description``.
    ///
    /// If there are more than 100, only the first 100 are listed, and a last line says how many are left out.
    public var description: String {
        var lines = issues.prefix(Self.maximumDescribed).map(\.description)
        let others = issues.count - lines.count
        if others > 0 {
            lines.append("and \(others) more; ManifestError.issues has all, and substitute check prints them")
        }
        return lines.joined(separator: "\n")
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension ManifestError {
    /// Creates an error with one issue: the manifest could not be read at all.
    init(unreadable path: String, because reason: String) { self.init(path, .unreadableManifest, reason) }

    /// Creates an error with one issue about the manifest as a whole.
    package init(_ path: String, _ code: ManifestIssue.Code, _ reason: String) {
        self.init([ManifestIssue(severity: .error, code: code, message: reason, file: path, line: 1, column: 1)])
    }
}

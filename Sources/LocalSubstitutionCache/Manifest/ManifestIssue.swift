/// One thing that is wrong with a manifest, or likely to be: what, where, and what to do about it.
///
/// ``description`` has the form compilers use, so editors and build logs link it to its line:
///
///     manifest.json:7:40: error: "img/heder.png" does not exist; did you mean "img/header.png"?
public struct ManifestIssue: Hashable, Sendable, CustomStringConvertible {
    /// Whether the issue keeps the manifest from being used.
    public enum Severity: String, Sendable {
        /// The manifest is refused whole.
        case error
        /// The manifest works, though probably not as meant.
        case warning
    }

    /// The kind of an issue, for programs; people read ``ManifestIssue/message``.
    ///
    /// New kinds may be added.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The kind in kebab case, as the tool prints it.
        public let rawValue: String

        /// Makes a code, for example to compare with one that was printed.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// Whether the issue keeps the manifest from being used.
    public let severity: Severity
    /// The kind of the issue.
    public let code: Code
    /// A sentence that names the cause and the remedy.
    ///
    /// What it quotes is safe to print on one line.
    public let message: String
    /// The manifest's file, as it was named to the library.
    public let file: String
    /// The line, from 1.
    ///
    /// Issues of the manifest as a whole stand at 1:1.
    public let line: Int
    /// The column, from 1, counted in UTF-8 bytes.
    public let column: Int

    package init(severity: Severity, code: Code, message: String, file: String, line: Int, column: Int) {
        (self.severity, self.code, self.message) = (severity, code, message)
        (self.file, self.line, self.column) = (file, line, column)
    }

    /// `file:line:column: severity: message`.
    public var description: String {
        "\(visible(file)):\(line):\(column): \(severity.rawValue): \(message)"
    }
}

extension ManifestIssue {
    /// The same issue, as an error.
    package var asError: ManifestIssue {
        ManifestIssue(severity: .error, code: code, message: message, file: file, line: line, column: column)
    }
}

extension ManifestIssue.Code {
    // The text of the file.

    /// The file is not valid JSON (RFC 8259).
    package static let syntax = Self(.syntax)
    /// The file is not UTF-8.
    package static let encoding = Self(.encoding)
    /// Objects and lists stand inside each other too deep.
    package static let nesting = Self(.nesting)
    /// The manifest itself cannot be found or read.
    package static let unreadableManifest = Self(.unreadableManifest)

    // Names and kinds of values.

    /// A value is of the wrong kind, for example a number where a string is needed.
    package static let wrongKind = Self(.wrongKind)
    /// A name stands twice in one object, or two keys are the same URL.
    package static let duplicateKey = Self(.duplicateKey)
    /// A field that entries do not have.
    package static let unknownField = Self(.unknownField)
    /// An entry without `file`.
    package static let missingField = Self(.missingField)

    // Fields.

    /// A key that is not a URL this library can stand in for.
    package static let badURL = Self(.badURL)
    /// A path that is not a plain path below the manifest's folder.
    package static let badPath = Self(.badPath)
    /// A media type that RFC 9110 §8.3.1 does not allow, or one for a folder.
    package static let badType = Self(.badType)
    /// A header name or value that RFC 9110 §5 does not allow.
    package static let badHeader = Self(.badHeader)
    /// A header that is not the manifest's to set.
    package static let reservedHeader = Self(.reservedHeader)
    /// A parameter name in `ignoreQuery` that cannot occur in a query.
    package static let badQueryRule = Self(.badQueryRule)
    /// A condition in `when` that does not exist.
    package static let badCondition = Self(.badCondition)
    /// A date in `until` that is not a day of the calendar written as YYYY-MM-DD.
    package static let badDate = Self(.badDate)

    // Files.

    /// A file or folder that does not exist.
    package static let missingFile = Self(.missingFile)
    /// A name that differs from the one on disk in the case of its letters.
    package static let wrongCase = Self(.wrongCase)
    /// A folder where a file is meant, a file where a folder is meant, or something that is neither.
    package static let wrongFileKind = Self(.wrongFileKind)
    /// A file that cannot be opened or read.
    package static let unreadableFile = Self(.unreadableFile)
    /// A path that a symbolic link leads out of the manifest's folder.
    package static let outsideFolder = Self(.outsideFolder)
    /// A folder that contains itself by a symbolic link, or more files than can be meant.
    package static let endlessFolder = Self(.endlessFolder)
    /// More URLs, all files of folders counted, than a manifest may stand for.
    package static let tooManyURLs = Self(.tooManyURLs)
    /// More URLs than an engine takes rules for; only of web views.
    package static let tooManyRules = Self(.tooManyRules)
    /// Changes of the manifest and its files cannot be told; see ``LocalSubstitutionCache/reloadWhenChanged(_:)``.
    package static let notWatched = Self(.notWatched)

    // Warnings.

    /// A file whose extension has no known media type.
    package static let unknownExtension = Self(.unknownExtension)
    /// A text file that is not UTF-8 and whose entry names no charset.
    package static let notUTF8 = Self(.notUTF8)
    /// A file in the folder that no entry uses.
    package static let unusedFile = Self(.unusedFile)
    /// An entry that never answers because others always answer before it.
    package static let shadowed = Self(.shadowed)
    /// A condition that holds when the server asks somebody to sign in.
    package static let hidesSignIn = Self(.hidesSignIn)
    /// A key with a wildcard, of which there are none.
    package static let wildcard = Self(.wildcard)
    /// A URL that looks like a picture, a font, a sound or a film, and a file that is none; or a type that no browser
    /// knows.
    package static let unlikelyType = Self(.unlikelyType)
    /// A URL that no server has, for example with two schemes.
    package static let unlikelyURL = Self(.unlikelyURL)
    /// A header whose value browsers do not take as it is.
    package static let unlikelyHeader = Self(.unlikelyHeader)
    /// An entry for a folder without files.
    package static let emptyFolder = Self(.emptyFolder)
    /// An entry whose `until` has passed.
    package static let expired = Self(.expired)

    /// The kinds that there are, so that a test finds those without an example.
    enum Known: String, CaseIterable {
        case syntax
        case encoding
        case nesting
        case unreadableManifest = "unreadable-manifest"
        case wrongKind = "wrong-kind"
        case duplicateKey = "duplicate-key"
        case unknownField = "unknown-field"
        case missingField = "missing-field"
        case badURL = "bad-url"
        case badPath = "bad-path"
        case badType = "bad-type"
        case badHeader = "bad-header"
        case reservedHeader = "reserved-header"
        case badQueryRule = "bad-query-rule"
        case badCondition = "bad-condition"
        case badDate = "bad-date"
        case missingFile = "missing-file"
        case wrongCase = "wrong-case"
        case wrongFileKind = "wrong-file-kind"
        case unreadableFile = "unreadable-file"
        case outsideFolder = "outside-folder"
        case endlessFolder = "endless-folder"
        case tooManyURLs = "too-many-urls"
        case tooManyRules = "too-many-rules"
        case notWatched = "not-watched"
        case unknownExtension = "unknown-extension"
        case notUTF8 = "not-utf-8"
        case unusedFile = "unused-file"
        case shadowed
        case hidesSignIn = "hides-sign-in"
        case wildcard
        case unlikelyType = "unlikely-type"
        case unlikelyURL = "unlikely-url"
        case unlikelyHeader = "unlikely-header"
        case emptyFolder = "empty-folder"
        case expired
    }

    private init(_ known: Known) {
        self.init(rawValue: known.rawValue)
    }
}

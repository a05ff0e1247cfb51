package import Foundation

/// A source of guesses at what the designer meant by a mistake in a manifest.
///
/// In an app there is no advice, so error messages contain no guess. Tools for designers and developers pass the advice
/// of `SubstitutionChecking` to ``SubstitutionManifest``.
package protocol ManifestAdvice: FileNameAdvice, Sendable {
    /// Parses a manifest's text, and continues after an error.
    func parse(_ text: Data) -> JSONDocument

    /// Returns the end of the message about a mistake; nil if there is no good guess.
    ///
    /// An example is `did you mean "file"?`.
    func remedy(for mistake: ManifestMistake) -> String?

    /// Returns the URL that was meant by a text that is not a URL; nil if none can be guessed.
    func url(meantBy text: String) -> String?

    /// Explains a member whose name is not a URL; nil if there is no explanation.
    ///
    /// Without an explanation, the member counts as an entry with a wrong URL.
    func diagnosis(of member: JSONMember, among members: [JSONMember]) -> Diagnosis<MisplacedMemberKind>?

    /// Explains a field that entries do not have; nil if the field is simply unknown.
    func diagnosis(of field: JSONMember, among fields: [JSONMember], of key: String) -> Diagnosis<MisplacedFieldKind>?

    /// Returns whether an entry's fields are really the content of a JSON file.
    ///
    /// If so, the designer pasted the content into the manifest instead of naming the file.
    func isFileContent(_ fields: [JSONMember]) -> Bool

    /// Returns a finding that explains why a file is missing; nil if no reason is known.
    func finding(aboutMissing file: Located<String>, of entry: ManifestEntry, in folder: URL) -> Finding?
}

/// A mistake that may have a remedy.
package enum ManifestMistake {
    /// A manifest that is not an object.
    case manifest(JSONValue)
    /// An entry's value that is neither a file's name nor an object.
    case entry(JSONValue)
    case annotation(JSONMember)
    case type(String)
    case day(String)
    case headers(JSONValue)
    case headerName(String)
    case parameterName(String)
    case queryRule(JSONValue)
    case condition(String)
}

/// An explanation of a misplaced member of a manifest, or of a misplaced field of an entry.
package struct Diagnosis<Kind> {
    package let kind: Kind
    /// A sentence that says how to write the member or field correctly.
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        (self.kind, self.message) = (kind, message)
    }
}

/// The kind of a manifest's member whose name is not a URL.
package enum MisplacedMemberKind {
    case comment
    /// An entry in the format of another tool.
    case foreignEntry
    /// A field of an entry: the whole manifest is a single entry without its URL.
    case fieldOfOnlyEntry
    /// An entry: its value can be read, although its name is not a URL.
    case entry
}

/// The kind of a field that entries do not have.
package enum MisplacedFieldKind {
    case other
    /// A field that names the file.
    case file
    /// The next entry: the closing bracket of the entry before it is missing.
    case nextEntry
}

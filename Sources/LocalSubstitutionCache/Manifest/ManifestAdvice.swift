package import Foundation

/// A source of guesses at what the designer meant by a mistake in a manifest.
///
/// An app has no such source, so its messages end before the guess. Tools for designers and developers pass the advice
/// of `SubstitutionChecking` to ``SubstitutionManifest``.
package protocol ManifestAdvice: FileNameAdvice, Sendable {
    /// Parses a manifest's text, and continues after an error.
    func parse(_ text: Data) -> JSONDocument

    /// Returns the end of the message about a mistake; nil if there is no good guess.
    ///
    /// For example, the end is `did you mean "file"?`.
    func remedy(for mistake: ManifestMistake) -> String?

    /// Returns the URL that was meant by a text that is not a URL; nil if none can be guessed.
    func url(meantBy text: String) -> String?

    /// Explains a member whose name is not a URL; nil if the member is an entry and only its URL is wrong.
    func diagnosis(of member: JSONMember, among members: [JSONMember]) -> Diagnosis<MisplacedMemberKind>?

    /// Explains a field that entries do not have; nil if the field is simply unknown.
    func diagnosis(of field: JSONMember, among fields: [JSONMember], of key: String) -> Diagnosis<MisplacedFieldKind>?

    /// Returns whether the fields are the content of a file.
    ///
    /// Such content was written into the manifest instead of the file's name.
    func isFileContent(_ fields: [JSONMember]) -> Bool

    /// Returns a finding that says more about a file than that it is missing; nil if nothing more is known.
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
    /// An entry in the format of some other tool.
    case foreignEntry
    /// A field of an entry: the whole manifest is a single entry without its URL.
    case fieldOfOnlyEntry
    /// An entry whose value can be read, although its name is not a URL.
    case entry
}

/// The kind of a field that entries do not have.
package enum MisplacedFieldKind {
    case other
    /// A field that names the file.
    case file
    /// The next entry, because the entry before it lacks its closing bracket.
    case nextEntry
}

package import Foundation

/// Guesses at what was meant by a mistake in a manifest.
///
/// An app has none, so its messages end before the remedy would be guessed. Who talks to somebody at a desk hands the
/// advice of `SubstitutionChecking` to ``SubstitutionManifest``.
package protocol ManifestAdvice: FileNameAdvice, Sendable {
    /// Parses a manifest's text, and goes on after a mistake.
    func parse(_ text: Data) -> JSONDocument

    /// The end of the sentence about a mistake, such as `did you mean "file"?`; nil when nothing is near enough.
    func remedy(for mistake: ManifestMistake) -> String?

    /// The URL that was meant by a text that is none; nil when none can be made out.
    func url(meantBy text: String) -> String?

    /// What a member of the manifest is, whose name is no URL; nil for one of which only the URL is wrong.
    func diagnosis(of member: JSONMember, among members: [JSONMember]) -> Diagnosis<MisplacedMemberKind>?

    /// What a field of an entry is that no entry has; nil for one that is simply unknown.
    func diagnosis(of field: JSONMember, among fields: [JSONMember], of key: String) -> Diagnosis<MisplacedFieldKind>?

    /// Tells an entry's fields from the content of a file, which somebody wrote into the manifest instead of its name.
    func isAnswer(_ fields: [JSONMember]) -> Bool

    /// Another finding about a file that does not exist; nil when nothing else can be told of it.
    func finding(aboutMissing file: Located<String>, of entry: ManifestEntry, in folder: URL) -> Finding?
}

/// A mistake that may have a remedy.
package enum ManifestMistake {
    /// A manifest that is no object.
    case manifest(JSONValue)
    /// A value of an entry that is neither a file's name nor an object.
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

/// What a member of a manifest, or a field of an entry, is that does not belong there.
package struct Diagnosis<Kind> {
    package let kind: Kind
    /// The sentence that tells how to write it.
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        (self.kind, self.message) = (kind, message)
    }
}

/// A member of a manifest whose name is no URL.
package enum MisplacedMemberKind {
    case comment
    /// An entry in the form of another tool.
    case foreignEntry
    /// A field of the one entry that the manifest is.
    case fieldOfOnlyEntry
    /// An entry whose value can be read all the same.
    case entry
}

/// A field of an entry that no entry has.
package enum MisplacedFieldKind {
    case other
    /// A field that names the file.
    case file
    /// The next entry: this one lacks its closing bracket.
    case nextEntry
}

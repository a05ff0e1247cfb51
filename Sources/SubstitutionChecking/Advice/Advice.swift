import Foundation
import LocalSubstitutionCache

/// The advice for a designer: repairs of mistakes, and guesses at what was meant.
package enum Advice {
    /// Returns the URL that was meant by a text that is not a URL; nil if none can be guessed.
    package static func url(meantBy text: String) -> String? { URLRepair.repaired(text) }

    /// Explains a member whose name is not a URL; nil if there is no explanation.
    ///
    /// Without an explanation, the member counts as an entry with a wrong URL.
    static func diagnosis(of member: JSONMember, among members: [JSONMember]) -> Diagnosis<MisplacedMemberKind>? {
        MisplacedMember.diagnosis(of: member, among: members)
            ?? (Wildcard.problem(ofPattern: member.name, member.value) ?? WrongURL.problem(of: member.name)).map {
                Diagnosis(.entry, $0)
            }
    }

    /// True if the object of an entry looks like the content of a JSON file, and not like the fields of an entry.
    ///
    /// Such an object has several members. No member's name resembles the name of a field, and no value looks like the
    /// name of a file.
    static func isFileContent(_ fields: [JSONMember]) -> Bool {
        fields.count > 1
            && fields.allSatisfy { member in
                if case .string(let text) = member.value.kind, text.contains(where: { "./".contains($0) }) {
                    return false
                }
                return !member.isUnreadable && !member.name.contains("/") && !member.name.hasPrefix("$")
                    && CommentName.problem(of: member.name, member.value) == nil
                    && FieldName.meant(by: member.name) == nil
            }
    }

    /// Returns a finding that explains why a file is missing; nil if no reason is known.
    ///
    /// If `isNear` is true, a file with a similar name was found.
    static func finding(
        aboutMissing file: Located<String>,
        of entry: ManifestEntry,
        in folder: URL,
        isNear: Bool
    ) -> Finding? {
        if let problem = CommentName.problem(ofMissing: file, of: entry) {
            return Finding(offset: entry.key.offset, severity: .error, code: .badURL, message: problem)
        }
        let problem =
            CloudPlaceholder.problem(ofMissing: file.value, in: folder) ?? Wildcard.problem(with: file.value, of: entry)
            ?? (isNear ? nil : Leftover.problem(ofMissing: file.value, in: folder))
        return problem.map { Finding(offset: file.offset, severity: .error, code: .missingFile, message: $0) }
    }
}

/// An explanation of a misplaced member of a manifest, or of a misplaced field of an entry.
struct Diagnosis<Kind> {
    let kind: Kind
    /// A sentence that says how to write the member or field correctly.
    let message: String

    init(_ kind: Kind, _ message: String) {
        (self.kind, self.message) = (kind, message)
    }
}

/// The kind of a manifest's member whose name is not a URL.
enum MisplacedMemberKind {
    case comment
    /// An entry in the format of another tool.
    case foreignEntry
    /// A field of an entry: the whole manifest is a single entry without its URL.
    case fieldOfOnlyEntry
    /// An entry: its value can be read, although its name is not a URL.
    case entry
}

/// The kind of a field that entries do not have.
enum MisplacedFieldKind {
    case other
    /// A field that names the file.
    case file
    /// The next entry: the closing bracket of the entry before it is missing.
    case nextEntry
}

package import Foundation
package import LocalSubstitutionCache
import SubstitutionStandards

/// The advice for a designer: repairs of mistakes, and guesses at what was meant.
package struct Advice: ManifestAdvice {
    package init() {}

    package func parse(_ text: Data) -> JSONDocument { RepairingJSONParser.parse(text) }

    package func url(meantBy text: String) -> String? {
        // With its user name and password masked, the URL would be useless as text to copy.
        URLRepair.repaired(text).flatMap { UserInformation.isPresent(in: $0) ? nil : $0 }
    }

    package func name(meantBy name: String, among names: [String]) -> String? {
        CopyName.match(for: name, among: names) ?? suggestion(for: name, among: names)
    }

    package func path(meantBy path: String, amongFiles files: [String]) -> String? {
        Namesake.path(of: path, among: files)
    }

    package func diagnosis(of member: JSONMember, among members: [JSONMember]) -> Diagnosis<MisplacedMemberKind>? {
        MisplacedMember.diagnosis(of: member, among: members)
            ?? (Wildcard.problem(ofPattern: member.name, member.value) ?? WrongURL.problem(of: member.name)
            ?? WrongURL.user(in: member.name, meant: url(meantBy: member.name))).map { Diagnosis(.entry, $0) }
    }

    package func diagnosis(
        of field: JSONMember,
        among fields: [JSONMember],
        of key: String
    ) -> Diagnosis<MisplacedFieldKind>? {
        MisplacedField.diagnosis(of: field, among: fields, of: key)
    }

    /// True if the object of an entry looks like the content of a JSON file, and not like the fields of an entry.
    ///
    /// Such an object has several members. No member's name resembles the name of a field, and no value looks like the
    /// name of a file.
    package func isFileContent(_ fields: [JSONMember]) -> Bool {
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

    package func finding(aboutMissing file: Located<String>, of entry: ManifestEntry, in folder: URL) -> Finding? {
        if let problem = CommentName.problem(ofMissing: file, of: entry) {
            return Finding(offset: entry.key.offset, severity: .error, code: .badURL, message: problem)
        }
        let problem =
            CloudPlaceholder.problem(ofMissing: file.value, in: folder) ?? Wildcard.problem(with: file.value, of: entry)
            ?? Leftover.problem(ofMissing: file.value, in: folder)
        return problem.map { Finding(offset: file.offset, severity: .error, code: .missingFile, message: $0) }
    }
}

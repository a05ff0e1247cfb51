import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

/// The repairs of a manifest that leave no choice, such as a comma too many or the case of a file's name.
///
/// One mistake in the text that only its author can repair makes the meaning of the rest uncertain. So the text is
/// repaired as a whole or not at all.
struct ManifestFix {
    /// The manifest's text with the repairs.
    let text: Data
    /// A line about each repair: its place, what was changed, and why.
    let lines: [String]

    /// Finds the repairs; nil if there are none.
    init?(of original: Data, name: String, folder: URL) {
        let (_, repairs) = RepairingJSONParser.read(original)
        guard repairs.allSatisfy({ $0.replacement != nil }) else { return nil }
        let sound = Data(repairs.applied(to: original))
        let manifest = SubstitutionManifest(checking: sound, name: name, url: nil)
        let names = manifest.exactRepairs(in: folder)
        guard !(repairs + names).isEmpty else { return nil }
        text = Data(names.applied(to: sound))
        lines = Self.lines(repairs, original, name) + Self.lines(names, sound, name)
    }

    private static func lines(_ repairs: [JSONRepair], _ text: Data, _ name: String) -> [String] {
        let bytes = Array(text)
        return repairs.map { repair in
            let place = JSONProblem(repair.error.message, at: repair.error.offset, in: text)
            let old = shortened(String(decoding: bytes[repair.range], as: UTF8.self).trimmingCharacters(in: .newlines))
            let new = shortened(repair.replacement ?? "")
            let change = old.isEmpty ? "inserted \(new)" : new.isEmpty ? "removed \(old)" : "\(old) → \(new)"
            return "\(visible(name)):\(place.line):\(place.column): fixed: \(change) (\(place.message))"
        }
    }

    /// Repairs a manifest, and prints what was changed and how to undo it.
    ///
    /// Does nothing if the manifest cannot be read, which the check then reports.
    static func apply(to manifest: ManifestFile, _ console: Console, _ print: (String) -> Void) throws {
        guard let original = try? SubstitutionManifest.text(of: manifest.url, name: manifest.name) else { return }
        guard let fix = ManifestFix(of: original, name: manifest.name, folder: manifest.folder) else {
            let repairs = RepairingJSONParser.read(original).repairs
            guard repairs.contains(where: { $0.replacement != nil }),
                let choice = repairs.first(where: { $0.replacement == nil })
            else { return }
            let place = JSONProblem(choice.error.message, at: choice.error.offset, in: original)
            let line = "\(visible(manifest.name)):\(place.line):\(place.column)"
            return print("\(line): nothing was fixed, since this leaves a choice; repair it, and run the command again")
        }
        try fix.write(to: manifest, over: original, console)
        fix.lines.forEach(print)
        print("the old text is in \(quoted(keptFile(of: manifest).path)); to undo this, move it over the manifest")
    }

    private func write(to manifest: ManifestFile, over original: Data, _ console: Console) throws {
        let staging = try StagingFolder.guarded(for: manifest, isDryRun: false, console)
        let kept = Self.keptFile(of: manifest)
        var change = FolderChange(manifest.url, name: manifest.name, original: original, date: console.now())
        change.isChecked = false
        change.text = text
        change.schedule(try staging.write(original), at: kept.lastPathComponent, replacing: try Fingerprint(of: kept))
        try change.commit(in: staging)
    }

    /// The file with the old text; an entry for a whole folder does not map a name that begins with a dot.
    private static func keptFile(of manifest: ManifestFile) -> URL {
        manifest.folder.appendingPathComponent(".\(manifest.url.lastPathComponent).old")
    }
}

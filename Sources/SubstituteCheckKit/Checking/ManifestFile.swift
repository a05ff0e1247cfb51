package import Foundation
package import LocalSubstitutionCache

/// The manifest that a command works on.
package struct ManifestFile: Sendable {
    /// The name of the manifest in messages.
    package let name: String
    package let url: URL
    /// The operand with which the user named the manifest; nil if the tool found it.
    let named: String?
    /// The search for manifests, which suggests another manifest if this one does not exist.
    let location: ManifestLocation

    /// The folder that contains the manifest and its files.
    package var folder: URL { url.deletingLastPathComponent() }

    /// The operands with which another command works on this manifest; empty if the command finds it by itself.
    private var operands: [String] {
        guard let named, !location.findsAlone(url) else { return [] }
        return [named.hasPrefix("-") ? "./" + named : named]
    }

    /// Returns the line to type for a command that works on this manifest: its name, its options and URLs.
    package func line(_ command: [String], urls: [String]) -> String {
        location.tool.line(command + operands + urls)
    }

    /// A question that suggests another manifest if this one does not exist; nil if there is nothing to suggest.
    var hint: String? { location.hint(for: name) }

    /// Checks the manifest for errors; no file is read.
    ///
    /// - Throws: ``ManifestError`` with all errors; the tool prints it in the same form for every command.
    package func checked(on date: Date) throws(ManifestError) -> ManifestCheck {
        let check = ManifestCheck(self, on: date, judgesFiles: false)
        if !check.errors.isEmpty { throw ManifestError(check.errors) }
        return check
    }

    /// Reads the manifest and its files in the same way as an app.
    ///
    /// - Throws: ``ManifestError`` with the same errors as ``checked(on:)``.
    package func table() throws(ManifestError) -> SubstitutionTable {
        do {
            let text = try SubstitutionManifest.text(of: url, name: name)
            // Copy the files, because the user may edit them meanwhile. If an editor truncates a memory-mapped file,
            // SIGBUS can kill the process.
            let manifest = SubstitutionManifest(text, name: name, url: url)
            return try SubstitutionTable(manifest, folder: folder, reading: .copied)
        } catch {
            _ = try checked(on: Date())
            throw error
        }
    }
}

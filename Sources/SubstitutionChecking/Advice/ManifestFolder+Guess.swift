import Foundation
import LocalSubstitutionCache

extension ManifestFolder {
    /// Returns the path that was probably meant by a path that does not exist; nil if none is close enough.
    ///
    /// For each guess, a name is compared with many names. A designer who corrects a manifest needs only a few guesses
    /// at a time, so at most `guesses` more are made.
    func path(meantBy path: String, _ guesses: inout Int) -> String? {
        if let meant = self.path(withOneOtherName: path, &guesses) { return meant }
        guard guesses > 0 else { return nil }
        guesses -= 1
        return Namesake.path(of: path, among: ((try? files(below: "./"))?.files ?? []).map(\.name))
    }

    /// Returns the path on disk that differs from `path` only in the first name that is not on disk.
    private func path(withOneOtherName path: String, _ guesses: inout Int) -> String? {
        let names = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        var folder = ""
        for (index, name) in names.enumerated() {
            let others = self.names(in: folder) ?? []
            if index < names.count - 1, self.names(in: folder + name + "/") != nil {
                folder += name + "/"
                continue
            }
            guard guesses > 0, !others.contains(where: { $0.lowercased() == name.lowercased() }) else { return nil }
            guesses -= 1
            guard let other = CopyName.match(for: name, among: others) ?? suggestion(for: name, among: others) else {
                return nil
            }
            let rest = names[(index + 1)...].map { "/" + $0 }.joined()
            let meant = folder + other + rest + (path.hasSuffix("/") ? "/" : "")
            return path.hasSuffix("/") ? self.names(in: meant).map { _ in meant } : (try? file(meant))?.path
        }
        return nil
    }
}

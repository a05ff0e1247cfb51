import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit

extension ManifestFile {
    /// Watches the manifest's folder.
    func watch(_ changed: @escaping @Sendable ([String]) -> Void) throws(ToolError) -> FolderWatcher {
        do throws(FileProblem) {
            return try FolderWatcher(folder, changed)
        } catch {
            throw ToolError("the manifest's folder cannot be watched: \(error.cause(of: folder.path))")
        }
    }
}

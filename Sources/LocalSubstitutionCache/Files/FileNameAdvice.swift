/// A source of suggestions for file names in a manifest that do not exist on disk.
package protocol FileNameAdvice {
    /// Returns the name that was probably meant by `name`; nil if none is close enough.
    ///
    /// `names` are all names in one directory.
    func name(meantBy name: String, among names: [String]) -> String?

    /// Returns the path that was probably meant by a path that does not exist.
    ///
    /// - Parameters:
    ///   - path: The path as written; a folder's path ends in "/".
    ///   - files: The paths of all files in the manifest's folder.
    /// - Returns: The path of a file, or of a folder, as it is on disk; nil if none is close enough.
    func path(meantBy path: String, amongFiles files: [String]) -> String?
}

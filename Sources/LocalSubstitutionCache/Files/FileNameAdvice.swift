/// A source of suggestions for names that no file has.
package protocol FileNameAdvice {
    /// Returns the name that was probably meant, among those of one directory; nil if none is close enough.
    func name(meantBy name: String, among names: [String]) -> String?

    /// Returns the path that was probably meant by a path that does not exist.
    ///
    /// - Parameters:
    ///   - path: The path as written; a folder's path ends in "/".
    ///   - files: The paths of all files.
    /// - Returns: The path of a file, or of a folder, as it is on disk; nil if none is close enough.
    func path(meantBy path: String, amongFiles files: [String]) -> String?
}

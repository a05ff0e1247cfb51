/// Guesses at the file that was meant by a name that no file has.
package protocol FileNameAdvice {
    /// The name among those of one directory that was meant; nil when none is near enough.
    func name(meantBy name: String, among names: [String]) -> String?

    /// The path that was meant by one at which there is nothing.
    ///
    /// - Parameters:
    ///   - path: What was written; that of a folder ends in "/".
    ///   - files: The paths of all files.
    /// - Returns: The path of a file, or of a folder, as it is on disk; nil when none is near enough.
    func path(meantBy path: String, amongFiles files: [String]) -> String?
}

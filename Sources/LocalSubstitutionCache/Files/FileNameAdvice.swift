/// Guesses at the file that was meant by a name that no file has.
package protocol FileNameAdvice {
    /// The name among those of one directory that was meant; nil when none is near enough.
    func name(meantBy name: String, among names: [String]) -> String?

    /// The path of a file, or of a folder if `path` ends in "/", that was meant; nil when none is near enough.
    ///
    /// - Parameters:
    ///   - path: What was written.
    ///   - files: The paths of all files.
    func path(meantBy path: String, amongFiles files: [String]) -> String?
}

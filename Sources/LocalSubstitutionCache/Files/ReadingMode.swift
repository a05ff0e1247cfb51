/// The way to bring the files of a manifest into memory.
public enum ReadingMode: Sendable {
    /// Maps files of 4 KB and above, and reads smaller ones: for files that never change, such as those of an app
    /// bundle.
    ///
    /// The system reads the pages of a mapped file when they are needed, and may drop them again. Deleting or replacing
    /// such a file is harmless. Shortening it in place kills the process with SIGBUS when the missing part is read.
    case mapped
    /// Reads every file whole: for files that are being edited or downloaded.
    case copied
}

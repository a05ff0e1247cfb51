/// The way to bring the files of a manifest into memory.
public enum ReadingMode: Sendable {
    /// Files of 4 KB and above are mapped and smaller ones read: for files that never change, as in an app bundle.
    ///
    /// The system reads the pages of a mapped file when they are needed, and may drop them again. Deleting or replacing
    /// such a file is harmless. Shortening it in place kills the process with SIGBUS when the missing part is read.
    case mapped
    /// Every file is read whole: for files that are being edited or downloaded.
    case copied
}

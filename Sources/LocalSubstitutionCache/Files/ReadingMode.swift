/// The way to bring the files of a manifest into memory.
public enum ReadingMode: Sendable {
    /// Maps files of 4 KB and above into memory, and reads smaller files.
    ///
    /// This is meant for files that never change, such as those of an app bundle. The system reads the pages of a
    /// mapped file when they are needed, and may drop them again. Deleting or replacing a mapped file is harmless. If a
    /// mapped file is shortened in place, reading the missing part kills the process with SIGBUS.
    case mapped
    /// Reads every file completely.
    ///
    /// This is meant for files that are being edited or downloaded.
    case copied
}

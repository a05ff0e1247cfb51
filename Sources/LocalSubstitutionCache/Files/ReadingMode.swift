/// How the files of a manifest are brought into memory.
public enum ReadingMode: Sendable {
    /// Files of 4 KB and above are mapped and smaller ones read: for files that never change, as in an app bundle.
    ///
    /// The system reads pages of a mapped file when they are needed and may drop them again. Deleting or replacing such
    /// a file is harmless; shortening it in place ends the process when the missing part is read.
    case mapped
    /// Every file is read whole: for files that are being edited or downloaded.
    case copied
}

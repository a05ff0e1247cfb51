/// A path or name as a file system tells them apart: byte for byte.
///
/// Swift's strings are equal when they are canonically equivalent, so "é" as one scalar and as two would be one key.
struct FilePath: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (first: Self, second: Self) -> Bool {
        first.text.utf8.elementsEqual(second.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Whether this is `folder` or lies below it.
    ///
    /// Both are absolute, without symbolic links.
    func isInside(_ folder: FilePath) -> Bool {
        guard text.utf8.starts(with: folder.text.utf8) else { return false }
        let rest = text.utf8.dropFirst(folder.text.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/") || folder.text == "/"
    }
}

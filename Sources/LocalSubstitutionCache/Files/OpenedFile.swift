import Foundation

/// A regular file that is open for reading, and its identity.
///
/// Opening it can neither block (`O_NONBLOCK`: a FIFO may have no writer) nor leak the descriptor (`O_CLOEXEC`). The
/// file cannot be confused with another: kind, size and date are read from the open descriptor, not by name.
package struct OpenedFile: ~Copyable {
    let descriptor: Int32
    let identity: FileIdentity

    /// Opens the file at `path`.
    ///
    /// - Parameters:
    ///   - path: The path to pass to `openat`.
    ///   - directory: A descriptor of the directory that a relative path starts from.
    ///   - followsLink: True to follow a symbolic link as the last part of the path.
    /// - Throws: ``FileProblem`` if nothing, or something other than a regular file, is at the path.
    init(_ path: String, in directory: Int32 = AT_FDCWD, followsLink: Bool = false) throws(FileProblem) {
        let flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW)
        let descriptor = openat(directory, path, flags)
        guard descriptor >= 0 else {
            switch errno {
            case ELOOP where !followsLink: throw .isLink
            // A socket cannot be opened at all.
            case ENXIO, EOPNOTSUPP: throw .notRegular
            case let code: throw FileProblem(errno: code)
            }
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw status.st_mode & S_IFMT == S_IFDIR ? .isFolder : .notRegular
        }
        self.descriptor = descriptor
        identity = FileIdentity(status)
    }

    deinit {
        close(descriptor)
    }

    /// The size in bytes.
    var size: Int { identity.size }

    /// Returns the size of a file that can probably be opened without following a link.
    ///
    /// This is cheaper than opening the file, but only opening it is a sure test.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - directory: A descriptor of the file's directory.
    /// - Returns: The size in bytes.
    /// - Throws: The ``FileProblem`` that opening the file would throw.
    static func size(ofReadable name: String, in directory: Int32) throws(FileProblem) -> Int {
        var status = stat()
        guard fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { throw FileProblem(errno: errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK: throw .isLink
        case S_IFDIR: throw .isFolder
        default: throw .notRegular
        }
        guard faccessat(directory, name, R_OK, 0) == 0 else { throw FileProblem(errno: errno) }
        return Int(status.st_size)
    }

    /// Returns the first bytes; fewer if the file has fewer.
    func head(_ count: Int) throws(FileProblem) -> Data { try part(0..<count) }

    /// Returns the bytes in a range; fewer if the file ends inside it.
    func part(_ range: Range<Int>) throws(FileProblem) -> Data {
        let range = range.clamped(to: 0..<size)
        var data = Data(count: range.count)
        var filled = 0
        while filled < data.count {
            let result = data.withUnsafeMutableBytes { bytes in
                let offset = off_t(range.lowerBound + filled)
                return pread(descriptor, bytes.baseAddress.map { $0 + filled }, bytes.count - filled, offset)
            }
            if result < 0, errno == EINTR { continue }
            guard result >= 0 else { throw FileProblem(errno: errno) }
            if result == 0 { break }
            filled += result
        }
        return data.prefix(filled)
    }

    /// The encoding of a text.
    package enum Encoding {
        case ascii
        /// UTF-8 with characters beyond ASCII.
        case utf8
        /// UTF-16, recognised by its byte-order mark.
        case utf16
        case unknown
    }

    /// Reads the content in pieces, and returns its encoding.
    package func encoding() throws(FileProblem) -> Encoding {
        var isASCII = true
        var isFirst = true
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        // The number of bytes carried over from the last piece, whose end cut a character in two.
        var carried = 0
        while true {
            let count = buffer.withUnsafeMutableBytes { bytes in
                read(descriptor, bytes.baseAddress.map { $0 + carried }, bytes.count - carried)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileProblem(errno: errno) }
            let piece = buffer[..<(carried + count)]
            if isFirst, piece.starts(with: [0xFE, 0xFF]) || piece.starts(with: [0xFF, 0xFE]) { return .utf16 }
            isFirst = false
            if isASCII { isASCII = piece.allSatisfy { $0 < 0x80 } }
            if count == 0 { return piece.firstInvalidUTF8() != nil ? .unknown : isASCII ? .ascii : .utf8 }
            // The beginning of an incomplete character has at most three bytes.
            let cut = piece.indices.suffix(3).last { piece[$0] >= 0xC0 } ?? piece.endIndex
            guard piece[..<cut].firstInvalidUTF8() == nil else { return .unknown }
            carried = piece.endIndex - cut
            for offset in 0..<carried { buffer[offset] = buffer[cut + offset] }
        }
    }
}

import Foundation

/// A regular file, open for reading, with what is known of it.
///
/// Opened so that nothing else can hold the caller up (`O_NONBLOCK`: a FIFO without a writer), leak (`O_CLOEXEC`) or be
/// confused with it: kind, size and date are read from the open descriptor, not from the name.
package struct OpenedFile: ~Copyable {
    let descriptor: Int32
    let identity: FileIdentity

    /// Opens the file at `path`.
    ///
    /// - Parameters:
    ///   - path: As the system takes it.
    ///   - directory: A descriptor of the directory that a relative path starts from.
    ///   - followsLink: Whether a symbolic link as the last part of the path is followed.
    /// - Throws: ``FileProblem`` when there is none, or something else.
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

    /// In bytes.
    var size: Int { identity.size }

    /// The size of a file that seems to be one that can be opened without following a link, in bytes.
    ///
    /// Cheaper than opening the file, which is the only sure test.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - directory: A descriptor of the directory that it lies in.
    /// - Returns: The size.
    /// - Throws: ``FileProblem``, as opening it would.
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

    /// The first bytes; fewer when the file has fewer.
    func head(_ count: Int) throws(FileProblem) -> Data { try part(0..<count) }

    /// Some bytes; fewer when the file ends before.
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

    /// How a text is encoded.
    package enum Encoding {
        case ascii
        /// UTF-8 with characters beyond ASCII.
        case utf8
        /// By its byte-order mark.
        case utf16
        case unknown
    }

    /// How the content is encoded, read piece by piece.
    package func encoding() throws(FileProblem) -> Encoding {
        var isASCII = true
        var isFirst = true
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        // The beginning of a character that the end of a piece cut.
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
            // No more than three bytes can be the beginning of a character.
            let cut = piece.indices.suffix(3).last { piece[$0] >= 0xC0 } ?? piece.endIndex
            guard piece[..<cut].firstInvalidUTF8() == nil else { return .unknown }
            carried = piece.endIndex - cut
            for offset in 0..<carried { buffer[offset] = buffer[cut + offset] }
        }
    }
}

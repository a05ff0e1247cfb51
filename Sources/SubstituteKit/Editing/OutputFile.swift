import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A fingerprint at the end of a page or a schema that the tool writes.
///
/// The tool replaces such a file only if its bytes are as the tool wrote them.
enum Seal {
    private static let mark = "written by substitute: "
    /// The maximum number of bytes from the mark to the end of a file.
    private static let longest = 100

    /// Adds a seal at the end of bytes.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - prefix: The text before the seal, which makes it a comment in the file's format.
    ///   - suffix: The text after the seal.
    /// - Returns: The bytes with the seal.
    static func sealed(_ data: Data, _ prefix: String, _ suffix: String) -> Data {
        let bytes = data + Data(prefix.utf8)
        return bytes + Data("\(mark)\(Fingerprint(bytes).rawValue)\(suffix)".utf8)
    }

    /// True if the bytes are as the tool wrote them.
    static func isIntact(_ data: Data) -> Bool {
        let tail = data.suffix(longest)
        guard let range = tail.range(of: Data(mark.utf8), options: .backwards) else { return false }
        let text = String(decoding: data[range.upperBound...], as: UTF8.self)
        let seal = Fingerprint(data[..<range.lowerBound]).rawValue
        return text.hasPrefix(seal) && text.dropFirst(seal.count).allSatisfy { " ->\"}\n".contains($0) }
    }
}

/// A file that the user names for the output of a command.
struct OutputFile {
    /// The path as the user wrote it.
    let path: String
    let url: URL
    /// Returns true for bytes that may be replaced; nil for a sealed file.
    private let isRecording: ((Data) -> Bool)?

    /// Checks that the file may be written: its path is free, or holds what the tool wrote there before.
    ///
    /// - Parameters:
    ///   - path: The path as the user wrote it.
    ///   - console: The command's console.
    ///   - sources: The folder of the manifest's files, where nothing may be written; nil to permit it.
    ///   - isRecording: Returns true for what a recording may replace; nil for other files. A recording is readable
    ///     for its owner only, as its URLs may hold secrets.
    /// - Throws: ``UsageError`` or ``ToolError`` if the file may not be written.
    init(_ path: String, _ console: Console, besides sources: URL? = nil, isRecording: ((Data) -> Bool)? = nil) throws {
        (self.path, url) = (path, console.folder.url(path).resolvingSymlinksInPath())
        self.isRecording = isRecording
        try Self.check(url, path, besides: sources)
        try check()
    }

    /// Refuses a place in the manifest's folder, where a file or folder would ship with the app.
    static func check(_ url: URL, _ path: String, besides sources: URL?) throws(UsageError) {
        guard let sources, "\(url.path)/".hasPrefix(sources.resolvingSymlinksInPath().path + "/") else { return }
        throw UsageError(
            "\(quoted(path)) lies in the manifest's folder, and would ship with the app; name another place"
        )
    }

    /// Returns the type of what is at the path; nil if the path is free.
    @discardableResult
    private func check() throws(ToolError) -> FileAttributeType? {
        let kind = FileSystem.kind(of: url.path)
        guard ![.typeDirectory, .unexamined].contains(kind),
            access((kind == nil ? url.deletingLastPathComponent() : url).path, W_OK) == 0
        else {
            throw ToolError.unwritable(path)
        }
        // A device or a pipe holds nothing that could be lost.
        guard kind == .typeRegular else { return kind }
        let data = try FileSystem.contents(replacing: path, at: url)
        if !data.isEmpty, !(isRecording ?? Seal.isIntact)(data) {
            throw ToolError(
                "\(quoted(path)) was not written by this tool, or was edited since; move it, or name another file"
            )
        }
        return kind
    }

    /// Writes the file; an existing file keeps its bytes until the new ones are complete.
    func write(_ data: Data) throws(ToolError) {
        let isPlain = try [nil, .typeRegular].contains(check())
        do {
            guard isPlain else { return try FileSystem.again { try data.write(to: url) } }
            let (folder, name) = (url.deletingLastPathComponent(), ".\(url.lastPathComponent).substitute")
            let staging = try StagingFolder(in: folder, named: name)
            let new = staging.newFileURL()
            try FileSystem.create(data, at: new, mode: isRecording == nil ? 0o666 : 0o600)
            guard rename(new.path, url.path) == 0 else { throw FileSystem.systemError }
        } catch let error as ToolError {
            throw error
        } catch {
            throw ToolError("\(quoted(path)) cannot be written: \(FileSystem.reason(error))")
        }
    }
}

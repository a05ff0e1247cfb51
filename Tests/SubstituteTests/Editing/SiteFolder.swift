// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport

/// A manifest's folder, into which the tool imports files.
struct SiteFolder: Sendable {
    let folder: TemporaryFolder

    /// Creates a folder with this manifest.
    init(_ manifest: String = "{}\n") throws {
        folder = try TemporaryFolder()
        try folder.write(manifest, to: "manifest.json")
    }

    var url: URL { folder.url }

    /// Runs `substitute add` with a recording.
    func take(_ recording: String, _ options: String...) async throws -> Program.Result {
        try await take(Data(recording.utf8), options)
    }

    /// Runs `substitute add` with a recording that has these exchanges.
    func take(_ entries: [HAREntry], _ options: String...) async throws -> Program.Result {
        try await take(Data(HAR.text(entries).utf8), options)
    }

    /// Runs `substitute add` with a recording.
    func take(_ recording: Data, _ options: [String] = []) async throws -> Program.Result {
        let scratch = try TemporaryFolder()
        try scratch.write(recording, to: "page.har")
        let file = scratch.url.appendingPathComponent("page.har").path
        return await Tool.run(["add"] + options + ["manifest.json", file], in: url)
    }

    /// The manifest's text.
    var manifest: String { String(decoding: bytes("manifest.json") ?? Data(), as: UTF8.self) }

    /// The file of each entry, keyed by the entry's URL.
    var entries: [String: String] {
        get throws {
            let object = try JSONSerialization.jsonObject(with: bytes("manifest.json") ?? Data())
            return (object as? [String: Any] ?? [:]).compactMapValues { value in
                value as? String ?? (value as? [String: Any])?["file"] as? String
            }
        }
    }

    /// Returns the content of a file; nil if the file does not exist.
    func bytes(_ path: String) -> Data? { try? Data(contentsOf: url.appendingPathComponent(path)) }

    /// Everything below the folder, keyed by path.
    ///
    /// For a file, the value is its bytes. For a link, the path ends in "@", and the value is the target. For a folder,
    /// the path ends in "/", and the value is empty.
    var listing: [String: Data] { get throws { try Self.listing(of: url) } }

    /// Returns everything below a folder, keyed by path, in the same form as the property `listing`.
    static func listing(of folder: URL) throws -> [String: Data] {
        var result: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let file = folder.appendingPathComponent(path)
            switch try FileManager.default.attributesOfItem(atPath: file.path)[.type] as? FileAttributeType {
            case .typeDirectory?: result[path + "/"] = Data()
            case .typeSymbolicLink?:
                result[path + "@"] = Data(try FileManager.default.destinationOfSymbolicLink(atPath: file.path).utf8)
            default: result[path] = try Data(contentsOf: file)
            }
        }
        return result
    }

    private static let own = ["manifest.json", ".substitute.json"]

    /// The paths of the files, without the manifest and the tool's own file `.substitute.json`.
    var files: Set<String> {
        get throws { Set(try listing.keys).filter { !$0.hasSuffix("/") && !Self.own.contains($0) } }
    }

    /// Runs `substitute check`.
    func check() async throws -> Program.Result { await Tool.run(["check", "manifest.json"], in: url) }
}
#endif

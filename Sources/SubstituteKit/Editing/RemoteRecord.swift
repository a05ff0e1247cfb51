import Foundation
import LocalSubstitutionCache

/// The validators that a server sent for one version of a resource.
struct RemoteVersion: Codable, Equatable {
    /// The value of `ETag` (RFC 9110 §8.8.3).
    var etag: String?
    /// The value of `Last-Modified` (RFC 9110 §8.8.2).
    var lastModified: String?
    /// A fingerprint of the local file: the length of its bytes, and their FNV-1a hash.
    var copy: String?

    /// Returns a copy of this version with the fingerprint of the local file's bytes.
    func with(_ data: Data) -> RemoteVersion {
        RemoteVersion(etag: etag, lastModified: lastModified, copy: Self.fingerprint(of: data))
    }

    static func fingerprint(of data: Data) -> String {
        var hash = FNV1a()
        hash.combine(data)
        return "\(data.count)-\(hash)"
    }
}

/// The versions of the resources that the tool has loaded, stored in a file beside the manifest.
///
/// With a recorded version, the tool can send a conditional request. If the resource has not changed, the server
/// answers with status 304 and sends no body. If no version is recorded, or if the local file was edited later, the
/// tool loads the resource and compares the bytes. The record contains no header fields of a response except `ETag` and
/// `Last-Modified`.
struct RemoteRecord {
    /// The name of the record's file.
    ///
    /// The name begins with ".", so an entry for a whole folder ignores the file.
    static let name = ".substitute.json"

    private var versions: [String: RemoteVersion]
    private let original: [String: RemoteVersion]

    /// Reads the record in a folder; creates an empty record if the file is missing or unreadable.
    init(in folder: URL) {
        let data = try? Data(contentsOf: folder.appendingPathComponent(Self.name))
        versions = data.flatMap { try? JSONDecoder().decode([String: RemoteVersion].self, from: $0) } ?? [:]
        original = versions
    }

    /// Returns the version that is recorded for a URL; nil if no version is recorded, or if the local file was edited
    /// later.
    func version(of url: String, copy: Data) -> RemoteVersion? {
        guard let version = versions[url], version.copy == RemoteVersion.fingerprint(of: copy) else { return nil }
        return version
    }

    mutating func set(_ version: RemoteVersion, for url: String) {
        versions[url] = version.etag == nil && version.lastModified == nil ? nil : version
    }

    /// Returns the text to write; nil if nothing changed.
    func changed() throws -> Data? {
        guard versions != original else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(versions) + Data("\n".utf8)
    }
}

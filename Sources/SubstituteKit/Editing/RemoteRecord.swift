import Foundation
import LocalSubstitutionCache

/// The validators that a server sent for one version of a resource.
struct RemoteVersion: Codable, Equatable {
    /// The `ETag`, as the server wrote it (RFC 9110 §8.8.3).
    var etag: String?
    /// The `Last-Modified`, as the server wrote it (RFC 9110 §8.8.2).
    var lastModified: String?
    /// A fingerprint of the copy's bytes: their length and FNV-1a hash.
    var copy: String?

    /// Returns the same version, with the fingerprint of the bytes that were sent.
    func with(_ data: Data) -> RemoteVersion {
        RemoteVersion(etag: etag, lastModified: lastModified, copy: Self.fingerprint(of: data))
    }

    static func fingerprint(of data: Data) -> String {
        var hash = FNV1a()
        hash.combine(data)
        return "\(data.count)-\(hash)"
    }
}

/// The versions of the copies when they were loaded, stored in a file beside the manifest.
///
/// With a recorded version, the tool can ask a server whether a copy is still current; if it is, the server sends no
/// body. The record holds no bodies, and of the header fields only `ETag` and `Last-Modified`. If no version is
/// recorded, or if the copy was edited since, the bytes are compared.
struct RemoteRecord {
    /// The file's name; begins with ".", so that a folder's entry leaves the file out.
    static let name = ".substitute.json"

    private var versions: [String: RemoteVersion]
    private let original: [String: RemoteVersion]

    /// Reads the record of a folder; a missing or unreadable file counts as an empty record.
    init(in folder: URL) {
        let data = try? Data(contentsOf: folder.appendingPathComponent(Self.name))
        versions = data.flatMap { try? JSONDecoder().decode([String: RemoteVersion].self, from: $0) } ?? [:]
        original = versions
    }

    /// Returns the version recorded for a URL; nil if there is none, or if the copy was edited since.
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

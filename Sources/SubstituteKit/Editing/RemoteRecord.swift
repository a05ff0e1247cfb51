import Foundation
import LocalSubstitutionCache

/// What a server said of one version of a resource.
struct RemoteVersion: Codable, Equatable {
    /// As the server wrote it (RFC 9110 §8.8.3).
    var etag: String?
    /// As the server wrote it (RFC 9110 §8.8.2).
    var lastModified: String?
    /// What tells the bytes of the copy from others: length and FNV-1a.
    var copy: String?

    /// The same with the bytes that were sent.
    func with(_ data: Data) -> RemoteVersion {
        RemoteVersion(etag: etag, lastModified: lastModified, copy: Self.fingerprint(of: data))
    }

    static func fingerprint(of data: Data) -> String {
        var hash = FNV1a()
        hash.combine(data)
        return "\(data.count)-\(hash)"
    }
}

/// What servers said of the copies when they were loaded, in a file beside the manifest.
///
/// With it a server is asked whether a copy is still what it has, and sends nothing when it is. It holds no bodies, and
/// of the heads only `ETag` and `Last-Modified`. Without it, or where a copy was edited since, the bytes are compared.
struct RemoteRecord {
    /// Begins with "." so that no entry ships it.
    static let name = ".substitute.json"

    private var versions: [String: RemoteVersion]
    private let original: [String: RemoteVersion]

    /// Reads what there is; what cannot be read is taken for nothing.
    init(in folder: URL) {
        let data = try? Data(contentsOf: folder.appendingPathComponent(Self.name))
        versions = data.flatMap { try? JSONDecoder().decode([String: RemoteVersion].self, from: $0) } ?? [:]
        original = versions
    }

    /// What a server said of a copy, as long as the copy is what it sent.
    func version(of url: String, copy: Data) -> RemoteVersion? {
        guard let version = versions[url], version.copy == RemoteVersion.fingerprint(of: copy) else { return nil }
        return version
    }

    mutating func set(_ version: RemoteVersion, for url: String) {
        versions[url] = version.etag == nil && version.lastModified == nil ? nil : version
    }

    /// The text to write; nil when nothing changed.
    func changed() throws -> Data? {
        guard versions != original else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(versions) + Data("\n".utf8)
    }
}

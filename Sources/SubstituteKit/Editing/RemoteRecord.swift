import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// One version of a resource, as its server sent it.
struct RemoteVersion: Codable, Equatable, Sendable {
    /// The value of `ETag` (RFC 9110 §8.8.3).
    var etag: String?
    /// The value of `Last-Modified` (RFC 9110 §8.8.2).
    var lastModified: String?
    /// The fingerprint of the bytes that the tool wrote.
    var copy: Fingerprint?
    /// The manifest's `$version` when `copy` was the fingerprint of all its files; nil for a resource.
    var number: Int64?
    /// The fields of the request that decide between a server's versions (RFC 9110 §12.5), keyed in lower case.
    ///
    /// The tool asks with the same fields again, so that it compares the same version. Nil in older records.
    var asked: [String: String]?

    /// Returns the version that a response names; `field` returns the value of a header field.
    ///
    /// A resource may change again within the second of `Last-Modified`. The field says nothing about such a change if
    /// the response has the same `Date` (RFC 9110 §8.8.2.2).
    static func sent(_ field: (String) -> String?) -> RemoteVersion {
        let lastModified = field("Last-Modified")
        return RemoteVersion(etag: field("ETag"), lastModified: lastModified == field("Date") ? nil : lastModified)
    }

    /// Returns this version with the fingerprint of its bytes.
    func with(_ copy: Fingerprint) -> RemoteVersion {
        RemoteVersion(etag: etag, lastModified: lastModified, copy: copy, asked: asked)
    }

    /// Returns those fields of a request that decide between a server's versions, keyed in lower case.
    static func asked(_ fields: [String: String]) -> [String: String] {
        let names = ["accept", "accept-language", "user-agent"]
        let known = fields.filter { !$0.value.isEmpty && $0.value.unicodeScalars.allSatisfy { $0.value >= 0x20 } }
        return Dictionary(known.map { ($0.key.lowercased(), $0.value) }) { $1 }.filter { names.contains($0.key) }
    }
}

/// The versions of the resources that the tool has loaded, stored in a file beside the manifest.
///
/// The record says who changed a file. A file that differs from its recorded copy, or that has none, was edited here.
/// With recorded validators, the tool can also send a conditional request: if the resource has not changed, the server
/// answers with status 304 and sends no body. The record contains no other header fields of a response.
struct RemoteRecord: Sendable {
    /// The name of the record's file.
    ///
    /// The name begins with ".", so an entry for a whole folder ignores the file.
    static let name = ".substitute.json"

    /// The state of a file, after the comparison of the recorded copy, the file now, and what its server sends now.
    enum State: String, Sendable {
        /// The server has the same bytes.
        case current
        /// The server has other bytes, and the file is as the tool loaded it, or cannot be replaced.
        case differs
        /// The file was edited here, and the server has the bytes that the tool loaded.
        case edited
        /// The file was edited here, or is not in the record, and the server has bytes that the tool has not loaded.
        case conflict
        /// The server sends no bytes, and the file has some.
        case empty
        /// The server no longer has the resource.
        case gone
        /// The server's version could not be compared, or not be taken.
        case unknown
        /// The server was not queried.
        case exempt
    }

    private var versions: [String: RemoteVersion]
    private let original: [String: RemoteVersion]
    /// The fingerprint of the record's file when it was read; nil if there was no file.
    let read: Fingerprint?

    /// Reads the record in a folder.
    ///
    /// - Throws: ``ToolError`` if there is a record that cannot be read. Without it, every file would count as edited.
    init(in folder: URL) throws(ToolError) {
        let file = folder.appendingPathComponent(Self.name)
        guard FileSystem.kind(of: file.path) != nil else {
            (versions, original, read) = ([:], [:], nil)
            return
        }
        do {
            // A pipe may never end, and a link may lead to another program's file, which the record would replace.
            guard FileSystem.kind(of: file.path) == .typeRegular else { throw ToolError("it is not a plain file") }
            let data = try FileSystem.contents(of: file)
            let stored = try JSONDecoder().decode([String: RemoteVersion].self, from: data).sorted { $0.key < $1.key }
            versions = Dictionary(stored.map { (Self.key($0.key), $0.value) }) { _, last in last }
            (original, read) = (versions, Fingerprint(data))
        } catch {
            throw ToolError(
                "\(quoted(Self.name)), the record of the loaded files, cannot be read\(Self.cause(of: error)); restore it, "
                    + "or remove it: then each file that differs from its server's counts as edited here"
            )
        }
    }

    private static func cause(of error: any Error) -> String {
        if let error = error as? ToolError { return ": \(error.message)" }
        return error is DecodingError ? ", because its JSON has a mistake" : ": \(FileSystem.reason(error))"
    }

    /// Returns the same text for all spellings of a URL; without a scheme, https is meant.
    private static func key(_ url: String) -> String {
        (try? URLPattern(url))?.targets.first?.identity.description ?? url
    }

    /// Returns the version that is recorded for a URL; nil if no copy is recorded.
    func version(of url: String) -> RemoteVersion? { versions[Self.key(url)].flatMap { $0.copy == nil ? nil : $0 } }

    /// Compares three versions of a URL's resource: the recorded copy, the file, and what the server sends.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - here: The fingerprint of the file.
    ///   - there: The fingerprint of the server's bytes.
    /// - Returns: `current`, `differs`, `edited`, `conflict` or `empty`, and the reason as a clause; nil for `current`.
    func state(of url: String, here: Fingerprint, there: Fingerprint) -> (State, reason: String?) {
        if here == there { return (.current, nil) }
        let copy = version(of: url)?.copy
        if copy == there { return (.edited, "it was edited here, and its server has not changed") }
        if there.count == 0 {
            return (.empty, "its server sends an empty file; if it is meant to be empty, empty the file here")
        }
        let sizes = [("here", here), ("there", there)].map { "\($0) \(ByteCount($1.count ?? 0))" }.joined(
            separator: ", "
        )
        guard let copy else {
            return (.conflict, "it is not in \(Self.name), so it counts as edited here (\(sizes))")
        }
        if copy == here { return (.differs, "its server has another version: \(sizes)") }
        return (.conflict, "it was edited here, and has changed on its server (\(sizes))")
    }

    /// The key of the fingerprint of all files, which is no URL.
    private static let manifestKey = "$version"

    /// The manifest's `$version` that is recorded, and the fingerprint of all files then; nil if none is.
    var files: (version: Int64, copy: Fingerprint)? {
        versions[Self.manifestKey].flatMap { known in known.copy.map { (known.number ?? 0, $0) } }
    }

    mutating func setFiles(_ files: Fingerprint, of version: Int64) {
        versions[Self.manifestKey] = RemoteVersion(copy: files, number: version)
    }

    mutating func set(_ version: RemoteVersion, for url: String) { versions[Self.key(url)] = version }

    /// Returns the text to write.
    ///
    /// - Parameter addsOnly: True for a text in which every version that was recorded before is unchanged.
    /// - Returns: The text; nil if nothing changed.
    /// - Throws: An error if the text cannot be encoded.
    func text(addsOnly: Bool = false) throws -> Data? {
        let versions = addsOnly ? versions.merging(original) { $1 } : versions
        guard versions != original else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(versions) + Data("\n".utf8)
    }
}

extension Substitution {
    /// The URL under which the file's version is recorded.
    ///
    /// The `index.html` of a folder answers two URLs, and has one record.
    var recordedURL: String { url.hasSuffix("/") && folderLength != nil ? url + "index.html" : url }
}

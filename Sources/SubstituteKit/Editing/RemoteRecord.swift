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
        RemoteVersion(etag: etag, lastModified: lastModified, copy: copy)
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
        /// The server has other bytes, and the file is as the tool loaded it.
        case differs
        /// The file was edited here, and the server has the bytes that the tool loaded.
        case edited
        /// The file was edited here, or is not in the record, and the server has bytes that the tool has not loaded.
        case conflict
        /// The server sends no bytes, and the file has some.
        case empty
        /// The server no longer has the resource.
        case gone
        /// The state is unknown.
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

    /// Compares three versions of a URL's resource.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - here: The fingerprint of the file.
    ///   - there: The fingerprint of the server's bytes; nil if they are known to differ from the file and the copy.
    /// - Returns: `current`, `differs`, `edited` or `conflict`.
    func state(of url: String, here: Fingerprint, there: Fingerprint?) -> State {
        if here == there { return .current }
        guard let copy = version(of: url)?.copy else { return .conflict }
        return copy == here ? .differs : copy == there ? .edited : .conflict
    }

    /// Returns the state of an edited file in words, as a clause about "it".
    func words(_ state: State, of url: String, here: Int?, there: Int?) -> String {
        let sizes = [("here", here), ("there", there)].compactMap { place, size in
            size.map { "\(place) \(ByteCount($0))" }
        }.joined(separator: ", ")
        if version(of: url) == nil { return "it is not in \(Self.name), so it counts as edited here (\(sizes))" }
        return state == .edited
            ? "it was edited here, and its server has not changed"
            : "it was edited here, and has changed on its server (\(sizes))"
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

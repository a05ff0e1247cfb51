import Foundation
import SubstitutionRules
import LocalSubstitutionCache
import SubstituteCheckKit

/// A short text that differs for different bytes: their number, and their FNV-1a hash.
struct Fingerprint: RawRepresentable, Codable, Hashable, Sendable {
    let rawValue: String

    init(rawValue: String) { self.rawValue = rawValue }

    init(_ data: Data) {
        var rest: Data? = data
        self.init(of: {
            defer { rest = nil }
            return rest
        })
    }

    /// Reads bytes in parts, until a part is nil or empty.
    private init(of next: () throws -> Data?) rethrows {
        var (count, hash) = (0, FNV1a())
        while let data = try next(), !data.isEmpty {
            count += data.count
            hash.combine(data)
        }
        rawValue = "\(count)-\(hash)"
    }

    /// Returns the fingerprint of a file's bytes as they are now; nil if there is no file.
    ///
    /// The file is read and not mapped, because an editor may shorten it meanwhile.
    ///
    /// - Throws: An error of the system if there is a file that cannot be read.
    init?(of file: URL) throws {
        if FileSystem.kind(of: file.path) == nil { return nil }
        self = try FileSystem.again {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            return try Fingerprint(of: { try handle.read(upToCount: 1 << 20) })
        }
    }

    /// Returns the fingerprint of a file that exists.
    ///
    /// - Throws: ``ToolError`` about the file, which the message calls `name`.
    init(of file: URL, named name: String) throws(ToolError) {
        let found: Fingerprint?
        do {
            found = try Fingerprint(of: file)
        } catch {
            throw ToolError("\(name) cannot be read: \(FileSystem.reason(error))")
        }
        guard let found else { throw ToolError("\(name) does not exist any more") }
        self = found
    }

    /// Returns the fingerprint of all files of a manifest.
    ///
    /// - Parameters:
    ///   - substitutions: The substitutions of the manifest.
    ///   - copies: The fingerprints of files that will be new or replaced, keyed by real path.
    /// - Throws: ``ToolError`` if another file cannot be read.
    init(ofFilesOf substitutions: [Substitution], with copies: [String: Fingerprint] = [:]) throws(ToolError) {
        var copies = copies
        for substitution in substitutions where copies[substitution.realPath] == nil {
            let file = URL(fileURLWithPath: substitution.realPath)
            copies[substitution.realPath] = try Fingerprint(of: file, named: quoted(substitution.path))
        }
        self.init(Data(copies.values.map(\.rawValue).sorted().joined(separator: "\n").utf8))
    }

    /// The number of bytes.
    var count: Int? { Int(rawValue.prefix { $0 != "-" }) }
}

import Foundation
import LocalSubstitutionCache

/// A short text that differs for different bytes: their number, and their FNV-1a hash.
struct Fingerprint: RawRepresentable, Codable, Hashable, Sendable {
    let rawValue: String

    init(rawValue: String) { self.rawValue = rawValue }

    init(_ data: Data) {
        var builder = Builder()
        builder.combine(data)
        self = builder.fingerprint
    }

    /// Returns the fingerprint of a file's bytes as they are now; nil if they cannot be read.
    ///
    /// The file is read and not mapped, because an editor may shorten it meanwhile.
    init?(of file: URL) {
        guard let handle = try? FileHandle(forReadingFrom: file) else { return nil }
        defer { try? handle.close() }
        var builder = Builder()
        do {
            while let data = try handle.read(upToCount: 1 << 20), !data.isEmpty { builder.combine(data) }
        } catch {
            return nil
        }
        self = builder.fingerprint
    }

    /// The number of bytes.
    var count: Int? { Int(rawValue.prefix { $0 != "-" }) }

    /// Computes a fingerprint of bytes that arrive in parts.
    struct Builder {
        private(set) var count = 0
        private var hash = FNV1a()

        mutating func combine(_ data: Data) {
            count += data.count
            hash.combine(data)
        }

        var fingerprint: Fingerprint { Fingerprint(rawValue: "\(count)-\(hash)") }
    }
}

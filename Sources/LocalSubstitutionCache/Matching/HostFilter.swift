/// A filter that rejects most URLs whose host is in no entry of the manifest.
///
/// It is a Bloom filter with one hash. A false positive costs an unnecessary lookup, and false negatives cannot happen.
/// Checking a URL allocates no memory.
struct HostFilter: Sendable {
    /// The bits of the filter, at least 64 bits for each host; the number of words is a power of two.
    private var words: [UInt64]

    init(_ identities: [URLIdentity]) {
        var hashes: Set<UInt64> = []
        for identity in identities {
            if case .hash(let hash) = Self.host(of: identity.base) { hashes.insert(hash) }
        }
        var count = 16
        while count < hashes.count { count *= 2 }
        words = Array(repeating: 0, count: count)
        for hash in hashes { words[word(of: hash)] |= 1 << (hash >> 58) }
    }

    /// Returns the index of the word for a hash.
    ///
    /// The low bits of the hash select the word, and its highest six bits select a bit in this word.
    private func word(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash & UInt64(words.count - 1)) }

    private enum Host {
        case hash(UInt64)
        /// The URL must be parsed to find its host, because there is a `%`, `@` or `[` before the path.
        case unclear
    }

    func mayContain(hostOf url: String) -> Bool {
        switch Self.host(of: url) {
        case .hash(let hash): words[word(of: hash)] & 1 << (hash >> 58) != 0
        case .unclear: true
        }
    }

    /// Returns the hash of the URL's host in lower case, without the port.
    private static func host(of url: String) -> Host {
        // Iterating over the string instead of its buffer takes five times as long per byte.
        var url = url
        return url.withUTF8(host(of:))
    }

    private static func host(of url: UnsafeBufferPointer<UInt8>) -> Host {
        var hash = FNV1a()
        var slashes = 0
        for byte in url {
            if slashes < 2 {
                if byte == UInt8(ascii: "/") { slashes += 1 }
                continue
            }
            switch byte {
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: ":"): return .hash(hash.value)
            case UInt8(ascii: "%"), UInt8(ascii: "@"), UInt8(ascii: "["): return .unclear
            default: hash.combine(byte.asciiLowercased)
            }
        }
        return .hash(hash.value)
    }
}

/// A filter that rejects most URLs whose host the manifest does not name, without allocating memory.
///
/// A Bloom filter with one hash: a false positive costs a lookup; false negatives cannot happen.
struct HostFilter: Sendable {
    /// The bits of the filter, at least 64 for each host; the number of words is a power of two.
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
    /// The low bits of the hash select the word, the high ones a bit in it.
    private func word(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash & UInt64(words.count - 1)) }

    private enum Host {
        case hash(UInt64)
        /// A host that only a full parse of the URL can judge.
        case unclear
    }

    func mayContain(hostOf url: String) -> Bool {
        switch Self.host(of: url) {
        case .hash(let hash): words[word(of: hash)] & 1 << (hash >> 58) != 0
        case .unclear: true
        }
    }

    /// Returns the hash of the host in lower case, without the port.
    private static func host(of url: String) -> Host {
        // The string's own iterator takes five times as long per byte.
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

/// Tells most URLs whose host a manifest does not name, without allocating anything.
///
/// Keeps a bit for each host; that two hosts share one costs a look-up, never a wrong answer.
struct HostFilter: Sendable {
    /// A power of two of words, with room for many times as many bits as there are hosts.
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

    /// The low bits of a hash choose a word, the high ones a bit in it.
    private func word(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash & UInt64(words.count - 1)) }

    private enum Host {
        case hash(UInt64)
        /// Something that must be parsed to be judged.
        case unclear
    }

    func mayContain(hostOf url: String) -> Bool {
        switch Self.host(of: url) {
        case .hash(let hash): words[word(of: hash)] & 1 << (hash >> 58) != 0
        case .unclear: true
        }
    }

    /// The hash of the host in lower case, up to the port or path.
    private static func host(of url: String) -> Host {
        // A string's own iterator takes five times as long for each byte.
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

/// Tells most URLs whose host a manifest does not name, without allocating anything.
///
/// Keeps a hash of each host; that two hosts share one costs a look-up, never a wrong answer.
struct HostFilter: Sendable {
    private var hashes: Set<UInt64> = []

    init(_ identities: [URLIdentity]) {
        for identity in identities {
            if case .hash(let hash) = Self.host(of: identity.base) { hashes.insert(hash) }
        }
    }

    private enum Host {
        case hash(UInt64)
        /// Something that must be parsed to be judged.
        case unclear
    }

    func mayContain(hostOf url: String) -> Bool {
        switch Self.host(of: url) {
        case .hash(let hash): hashes.contains(hash)
        case .unclear: true
        }
    }

    /// FNV-1a over the host in lower case, up to the port or path.
    private static func host(of url: String) -> Host {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        var slashes = 0
        for byte in url.utf8 {
            if slashes < 2 {
                if byte == UInt8(ascii: "/") { slashes += 1 }
                continue
            }
            switch byte {
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: ":"): return .hash(hash)
            case UInt8(ascii: "%"), UInt8(ascii: "@"), UInt8(ascii: "["): return .unclear
            default: hash = (hash ^ UInt64(byte.asciiLowercased)) &* 0x100_0000_01b3
            }
        }
        return .hash(hash)
    }
}

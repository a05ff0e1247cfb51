import Foundation

/// The hashes in the attribute `integrity` of a page's element (Subresource Integrity §3.3).
struct Integrity {
    /// The strongest hash function in the attribute; nil if it has none that browsers know.
    private let function: SHA2?
    /// The hashes by this function, in Base64.
    private let hashes: Set<Substring>

    init(_ text: String) {
        let all = text.split(whereSeparator: \.isWhitespace).compactMap { word -> (SHA2, Substring)? in
            let parts = word.prefix { $0 != "?" }.split(separator: "-", maxSplits: 1)
            return parts.count == 2 ? SHA2(rawValue: String(parts[0])).map { ($0, parts[1]) } : nil
        }
        let strongest = SHA2.allCases.last { function in all.contains { $0.0 == function } }
        function = strongest
        hashes = Set(all.filter { $0.0 == strongest }.map(\.1))
    }

    /// Returns the attribute's value that browsers accept for a file; nil if they accept this one.
    func correction(for bytes: Data) -> String? {
        guard let function else { return nil }
        let hash = Data(function.hash(Array(bytes))).base64EncodedString()
        // Browsers read the Base64 of URLs, too (RFC 4648 §5).
        let spellings = [hash, hash.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")]
        return spellings.contains { hashes.contains($0[...]) } ? nil : "\(function.rawValue)-\(hash)"
    }
}

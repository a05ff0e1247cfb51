/// The hash functions that the attribute `integrity` of a page names (FIPS 180-4), the weakest first.
///
/// Foundation on Linux has no hash functions.
enum SHA2: String, CaseIterable {
    case sha256
    case sha384
    case sha512

    func hash(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        // The constants of 32 bits are the first halves of those of 64 bits.
        case .sha256:
            SHA2Words<UInt32>(
                state: Self.squareRoots.prefix(8).map { UInt32($0 >> 32) },
                constants: Self.cubeRoots.prefix(64).map { UInt32($0 >> 32) },
                sums: ((2, 13, 22), (6, 11, 25)),
                shifts: ((7, 18, 3), (17, 19, 10))
            )
            .hash(bytes)
        case .sha384: Array(Self.words(from: Self.squareRoots.suffix(8)).hash(bytes).prefix(48))
        case .sha512: Self.words(from: Self.squareRoots.prefix(8)).hash(bytes)
        }
    }

    private static func words(from state: ArraySlice<UInt64>) -> SHA2Words<UInt64> {
        SHA2Words(
            state: Array(state),
            constants: cubeRoots,
            sums: ((28, 34, 39), (14, 18, 41)),
            shifts: ((1, 8, 7), (19, 61, 6))
        )
    }

    /// The first 64 bits of the fractional parts of the square roots of the first 16 primes (§5.3).
    private static let squareRoots: [UInt64] = [
        0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1, 0x510e527fade682d1,
        0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179, 0xcbbb9d5dc1059ed8, 0x629a292a367cd507,
        0x9159015a3070dd17, 0x152fecd8f70e5939, 0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7,
        0x47b5481dbefa4fa4,
    ]

    /// The first 64 bits of the fractional parts of the cube roots of the first 80 primes (§4.2.3).
    private static let cubeRoots: [UInt64] = [
        0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538,
        0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe,
        0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
        0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
        0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab,
        0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
        0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed,
        0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
        0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
        0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8, 0x19a4c116b8d2d0c8, 0x1e376c085141ab53,
        0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373,
        0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
        0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c,
        0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6,
        0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
        0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
    ]
}

/// The computation with words of 32 or 64 bits (FIPS 180-4 §6.2 and §6.4).
private struct SHA2Words<Word: FixedWidthInteger> {
    typealias Distances = (Word, Word, Word)
    var state: [Word]
    let constants: [Word]
    /// The distances of the functions Σ0 and Σ1, and of σ0 and σ1 (§4.1).
    let sums: (Distances, Distances), shifts: (Distances, Distances)

    func hash(_ bytes: [UInt8]) -> [UInt8] {
        let size = Word.bitWidth / 8
        var copy = self
        let whole = bytes.count / (16 * size) * (16 * size)
        copy.add(bytes[..<whole])
        // After the text follow one bit, zeros, and the number of bits in two words (§5.1).
        var rest = bytes[whole...] + [0x80]
        while (rest.count + 2 * size) % (16 * size) != 0 { rest.append(0) }
        rest += [UInt8](repeating: 0, count: 2 * size - 8)
        rest += (0..<8).reversed().map { UInt8(truncatingIfNeeded: UInt64(bytes.count * 8) >> UInt64($0 * 8)) }
        copy.add(rest)
        return copy.state.flatMap { word in
            (0..<size).reversed().map { UInt8(truncatingIfNeeded: word >> Word($0 * 8)) }
        }
    }

    /// Adds whole blocks of 16 words.
    private mutating func add(_ blocks: ArraySlice<UInt8>) {
        let size = Word.bitWidth / 8
        var words = [Word](repeating: 0, count: constants.count)
        var start = blocks.startIndex
        while start < blocks.endIndex {
            for index in 0..<16 {
                let place = start + index * size
                words[index] = blocks[place..<place + size].reduce(0) { $0 << 8 | Word($1) }
            }
            for index in 16..<words.count {
                words[index] =
                    words[index - 16] &+ shifted(words[index - 15], shifts.0) &+ words[index - 7]
                    &+ shifted(words[index - 2], shifts.1)
            }
            addBlock(words)
            start += 16 * size
        }
    }

    private mutating func addBlock(_ words: [Word]) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in words.indices {
            let first = h &+ rotated(e, sums.1) &+ (e & f ^ ~e & g) &+ constants[index] &+ words[index]
            let second = rotated(a, sums.0) &+ (a & b ^ a & c ^ b & c)
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
    }

    private func rotated(_ word: Word, _ distances: Distances) -> Word {
        rotated(word, distances.0) ^ rotated(word, distances.1) ^ rotated(word, distances.2)
    }

    private func shifted(_ word: Word, _ distances: Distances) -> Word {
        rotated(word, distances.0) ^ rotated(word, distances.1) ^ word >> distances.2
    }

    private func rotated(_ word: Word, _ distance: Word) -> Word {
        word &>> distance | word &<< (Word(Word.bitWidth) - distance)
    }
}

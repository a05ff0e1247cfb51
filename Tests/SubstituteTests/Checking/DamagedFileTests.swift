import Foundation
import LocalSubstitutionCache
import TestSupport
import Testing

@testable import SubstituteCheckKit

@Suite("Damaged files")
struct DamagedFileTests {
    /// The names of files, and bytes with which they may begin.
    static let beginnings: [(name: String, bytes: [UInt8])] = [
        ("a.png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D] + Array("IHDR".utf8)),
        ("a.jpg", [0xFF, 0xD8, 0xFF, 0xC0]),
        ("b.jpg", [0xFF, 0xD8, 0xFF, 0xE1, 0, 0x30] + Array("Exif\0\0II*\0".utf8)),
        ("a.gif", Array("GIF89a".utf8)), ("a.webp", Array("RIFF".utf8)), ("a.bmp", Array("BM".utf8)),
        ("a.woff2", Array("wOF2".utf8)), ("a.woff", Array("wOFF".utf8)), ("a.ttf", [0, 1, 0, 0]),
        ("a.mp4", [0, 0, 0, 0x10] + Array("ftypisom".utf8)), ("b.mp4", [0, 0, 0, 1] + Array("mdat".utf8)),
        ("a.avif", [0, 0, 0, 0x10] + Array("ftypavif".utf8)), ("a.webm", [0x1A, 0x45, 0xDF, 0xA3]),
        ("a.wav", Array("RIFF".utf8)), ("a.pdf", Array("%PDF-1.4".utf8)), ("a.zip", [0x50, 0x4B, 3, 4]),
        ("a.ico", [0, 0, 1, 0]), ("a.mp3", Array("ID3".utf8)), ("a.ogg", Array("OggS".utf8)),
        ("a.wasm", Array("\0asm".utf8)), ("a.gz", [0x1F, 0x8B]), ("a.bin", []),
    ]

    @Test("No bytes after the beginning of a format end the check", arguments: beginnings)
    func anyBytes(name: String, bytes: [UInt8]) {
        let type = MediaType(fileName: name) ?? MediaType(essence: "application/octet-stream")
        func check(_ rest: [UInt8]) { _ = ContentRules.remarks(on: Data(bytes + rest), named: name, as: type) }
        for byte in [0, 1, 0x7F, 0x80, 0xFE, 0xFF] as [UInt8] {
            for count in [0, 1, 7, 8, 20, 300] { check([UInt8](repeating: byte, count: count)) }
        }
        var generator = Numbers(state: 1)
        for _ in 0..<60 {
            // Many fields are lengths, so most bytes are extreme.
            check(
                (0..<64).map { _ in
                    [0, 0xFF, .random(in: 0...UInt8.max, using: &generator)].randomElement(using: &generator) ?? 0
                }
            )
        }
    }
}

import Foundation

/// Conversion of text from UTF-16, which PowerShell writes.
enum UnicodeText {
    /// Converts a text to UTF-8 without a byte-order mark; a text without one is returned unchanged.
    static func utf8(_ data: Data) -> Data {
        if data.starts(with: [0xEF, 0xBB, 0xBF]) { return data.dropFirst(3) }
        guard data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF]) else { return data }
        return String(data: data, encoding: .utf16).map { Data($0.utf8) } ?? data
    }
}

import Foundation
import LocalSubstitutionCache

extension StringProtocol {
    /// The text without percent-encoding; nil if it is not UTF-8 then, or if comparing it would take quadratic time.
    package var percentDecoded: String? { removingPercentEncoding.flatMap { $0.isStreamSafe ? $0 : nil } }
}

extension Collection<UInt8> {
    /// ``StringProtocol/isStreamSafe`` of a text in UTF-8.
    package var isStreamSafe: Bool {
        !contains { $0 >= 0xCC } || String(decoding: self, as: UTF8.self).isStreamSafe
    }
}

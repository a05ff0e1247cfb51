// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

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

extension HTTPURLResponse {
    /// Returns the value of a header field; nil also for a value whose comparison would take quadratic time.
    package func field(_ name: String) -> String? {
        value(forHTTPHeaderField: name).flatMap { $0.isStreamSafe ? $0 : nil }
    }
}

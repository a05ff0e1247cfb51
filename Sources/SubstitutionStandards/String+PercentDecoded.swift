import Foundation
import LocalSubstitutionCache

extension StringProtocol {
    /// The text without percent-encoding; nil if it is not UTF-8 then, or if comparing it would take quadratic time.
    package var percentDecoded: String? { removingPercentEncoding.flatMap { $0.isStreamSafe ? $0 : nil } }
}

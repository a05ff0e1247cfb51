import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

/// The address of a page, as a user types it; the scheme may be missing.
struct PageAddress: Sendable {
    let text: String

    init(_ text: String) throws(UsageError) {
        guard text != "-" else { throw UsageError("name the pages; standard input is not read") }
        // A server on this machine has no certificate, so the default scheme is http.
        let name = text.prefix { $0 != "/" && $0 != ":" }.lowercased()
        let isLocal = name == "localhost" || name.hasPrefix("127.") || name.hasSuffix(".localhost")
        let whole = text.contains("://") ? text : (isLocal ? "http://" : "https://") + text
        guard let url = URL(string: whole), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host?.isEmpty == false
        else {
            if let problem = URLAdvice.problem(of: text) { throw UsageError(problem) }
            throw UsageError("\(quoted(text)) is not the address of a page; write it as https://example.com/")
        }
        self.text = whole
    }
}

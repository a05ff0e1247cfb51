// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

extension URLRequest {
    /// True if the request identifies its user: by cookies, credentials, or another secret in its URL, header fields
    /// or body.
    ///
    /// The response to such a request is kept only if the app allows it for the host.
    package var isPersonal: Bool {
        let isFieldPersonal = (allHTTPHeaderFields ?? [:]).contains { name, value in
            SecretWords.isCredential(field: name) || SecretScanner.isCertain(in: value)
        }
        // No server receives the fragment.
        let url = url?.absoluteString.prefix { $0 != "#" } ?? ""
        if isFieldPersonal || SecretScanner.isCertain(in: String(url), isURL: true) { return true }
        guard let body = httpBody else { return false }
        // A body of this length is not searched.
        return body.count > 1 << 16 || SecretScanner.isCertain(in: String(decoding: body, as: UTF8.self))
    }
}

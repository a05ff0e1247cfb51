import LocalSubstitutionCache

extension URLPattern {
    /// Creates the key for a URL that a client requested.
    ///
    /// Characters that browsers send but a manifest may not hold are percent-encoded. The fragment is dropped.
    init(requested url: String) throws(URLProblem) {
        let url = String(url.prefix { $0 != "#" })
        do throws(URLProblem) {
            try self.init(url)
        } catch {
            try self.init(URLIdentity(url).description)
        }
    }

    /// The same URL without its query.
    var withoutQuery: URLPattern? { try? URLPattern(String(spelling.prefix { $0 != "?" })) }

    /// The full URL, with https if the key leaves the scheme open.
    var targetURL: String { targets.first?.spelling ?? spelling }

    /// The host with its port, and the path, both percent-encoded in normal form.
    var address: (authority: String, path: String) {
        let parts = (targets.first?.identity.base ?? "").split(separator: "/", maxSplits: 2).map(String.init)
        return (parts.count > 1 ? parts[1] : "", String(targets.first?.identity.path ?? "/"))
    }
}

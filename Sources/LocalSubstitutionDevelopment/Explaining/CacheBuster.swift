import LocalSubstitutionCache
import SubstitutionStandards

/// Query parameters that a page adds to a URL against caches, or to track visitors.
///
/// They do not select the content: the server sends the same bytes without them.
enum CacheBuster {
    /// The names that mean nothing else, on any URL; a trailing `*` is a wildcard.
    private static let always: Set = [
        "_", "cb", "cachebust", "cachebuster", "nocache", "fbclid", "gclid", "dclid", "msclkid", "mc_cid", "mc_eid",
    ]
    /// The names of a version, on the URL of a static file; on a page or an API, they may select the content.
    private static let versions: Set = ["v", "ver", "version", "rev", "revision", "build", "hash", "ts"]

    /// Returns the names of parameters that do not select the content; nil if any of the parameters may select it.
    ///
    /// - Parameters:
    ///   - parameters: The parameters in which two queries differ.
    ///   - type: The media type, if the file's extension in the URL says so; otherwise nil.
    /// - Returns: The names, for a list of ignored parameters; `*` for versions without a name, such as `?1.2`.
    static func names(of parameters: some Collection<Substring>, in type: MediaType?) -> [String]? {
        let canonical = type?.canonical.essence ?? ""
        let isCode = ["text/css", "text/javascript"].contains(canonical) || canonical.hasPrefix("font/")
        let isStatic = isCode || ["image/", "audio/", "video/"].contains { canonical.hasPrefix($0) }
        if isStatic, parameters.allSatisfy({ isVersion($0, atLeast: isCode ? 1 : 8) }) { return ["*"] }
        var names: [String] = []
        for parameter in parameters {
            let name = parameter.prefix { $0 != "=" }
            let isIgnorable =
                always.contains(name.lowercased()) || name.hasPrefix("utm_")
                || isStatic && versions.contains(name.lowercased()) && parameter.contains(where: \.isNumber)
            guard isIgnorable else { return nil }
            names.append(name.hasPrefix("utm_") ? "utm_*" : String(name))
        }
        return Set(names).sorted()
    }

    /// Returns true for a number, a date or a digest without a name; a short one may be the size of a picture.
    private static func isVersion(_ parameter: Substring, atLeast count: Int) -> Bool {
        parameter.count >= count && parameter.contains(where: \.isNumber)
            && parameter.allSatisfy { $0.isHexDigit || ".-_v".contains($0) }
    }
}

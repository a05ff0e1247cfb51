import Foundation

extension SecretMask {
    /// The secrets in the query of a URL, by the names of their parameters.
    package struct Findings {
        /// The parameters that identify a person: tokens, sessions and passwords.
        package fileprivate(set) var personal: [String] = []
        /// The other parameters that may be secrets.
        package fileprivate(set) var others: [String] = []
        /// The parameter with the time after which the server refuses the URL; nil if there is none.
        package fileprivate(set) var expiry: String?
    }

    /// Returns the secrets in the query of a URL.
    package static func findings(in url: String) -> Findings {
        let url = url.prefix { $0 != "#" }
        guard let mark = url.firstIndex(of: "?") else { return Findings() }
        var findings = Findings()
        var times: [(name: String, isDate: Bool)] = []
        for parameter in url[url.index(after: mark)...].split(whereSeparator: { "&;".contains($0) }) {
            let sign = parameter.firstIndex(of: "=") ?? parameter.endIndex
            let (name, value) = (String(parameter[..<sign]), parameter[sign...].dropFirst())
            let plain = value.removingPercentEncoding ?? String(value)
            let letters = name.lowercased().filter(\.isLetter)
            if expiries.contains(letters) {
                times.append((name, [10, 13].contains(plain.count) && plain.allSatisfy(\.isNumber)))
            }
            // Akamai puts the time and the signature into one value.
            if plain.contains("exp="), plain.contains("hmac=") {
                findings.expiry = name
            } else if plain.hasPrefix("eyJ") || plain.lowercased().hasPrefix("bearer ")
                || personalNames.contains(letters) && !value.isEmpty
            {
                findings.personal.append(name)
            } else if masked("https://h/?\(parameter)") != "https://h/?\(parameter)" {
                findings.others.append(name)
            }
        }
        let isSigned = !findings.others.isEmpty || !findings.personal.isEmpty
        findings.expiry = findings.expiry ?? times.first { isSigned || $0.isDate }?.name
        return findings
    }

    private static let personalNames: Set = [
        "accesstoken", "idtoken", "refreshtoken", "authtoken", "oauthtoken", "usertoken", "sessiontoken", "sessionid",
        "session", "jsessionid", "phpsessid", "jwt", "bearer", "authorization", "password", "passwd", "pwd",
    ]

    /// The names of the parameters with the time at which a signed URL expires.
    ///
    /// They are those of Amazon S3, CloudFront (whose `Policy` holds the time), Google Cloud Storage, Azure Storage
    /// (`se`) and Alibaba OSS, and the usual words.
    private static let expiries: Set = [
        "xamzexpires", "xgoogexpires", "xossexpires", "expires", "expiry", "expiration", "exp", "expire", "expiresat",
        "policy", "se",
    ]
}

import Foundation
import LocalSubstitutionCache
import SubstitutionStandards

extension SecretMask {
    /// The secrets in a URL, by the names of their parameters.
    package struct Findings {
        /// The parameters that identify a person: tokens, sessions and passwords.
        package fileprivate(set) var personal: [String] = []
        /// The other parameters that may be secrets.
        package fileprivate(set) var others: [String] = []
        /// The parameter with the time after which the server refuses the URL; nil if there is none.
        package fileprivate(set) var expiry: String?
    }

    /// Returns the secrets in a URL.
    package static func findings(in url: String) -> Findings {
        let url = withoutFragment(url)
        var findings = Findings()
        // The URL in a parameter may hold a password, too.
        let bytes = Array(url.utf8)
        if UserInformation.occurrences(in: bytes).contains(where: \.isPassword) { findings.personal.append("") }
        func isPersonal(_ place: SecretScanner.Place) -> Bool {
            let name = place.name.lowercased().filter(\.isLetter)
            let isShared = ["token", "sign", ""].contains(name) || shared.contains(where: name.contains)
            return place.isToken || place.isCertain && !isShared
        }
        for place in SecretScanner.places(in: url, isURL: true) {
            // The value of a signature may hold another secret.
            let value = String(decoding: bytes[place.range], as: UTF8.self)
            if isPersonal(place) || SecretScanner.places(in: value, isURL: true).contains(where: isPersonal) {
                findings.personal.append(place.name)
            } else {
                findings.others.append(place.name)
            }
        }
        let isSecret = !findings.others.isEmpty || !findings.personal.isEmpty
        findings.expiry = url.firstIndex(of: "?").flatMap {
            SignedQuery(url[$0...].dropFirst()).expiry(ifSecret: isSecret)
        }
        return findings
    }

    /// The parts of the names of signatures and of keys, which a site may give to every visitor.
    ///
    /// Some storage services write a whole public URL with `token=`.
    private static let shared = [
        "sig", "hmac", "hdn", "key", "credential", "accessid", "xamz", "xgoog", "xoss", "xcos", "cookie",
    ]
}

import Foundation
import LocalSubstitutionCache

/// The words by which names and values show secrets, for ``SecretScanner``.
package enum SecretWords {
    /// The kinds of names that suggest a secret.
    package enum Suggestion {
        /// The value is a secret.
        case certain
        /// The value may be a secret, or personal, if it belongs to a parameter or to a member of a JSON object.
        case likely
        /// The value is a secret unless it is a word, as in `key=value`.
        case key
    }

    /// Returns what the name of a parameter or of a header field suggests; nil if it suggests no secret.
    package static func suggestion(of name: String) -> Suggestion? {
        // Telegram's API has the token in its path: `/bot123456:…`.
        if name.hasPrefix("bot"), name.utf8.count > 8, name.utf8.dropFirst(3).allSatisfy(\.isASCIIDigit) {
            return .certain
        }
        if isPublic(name) { return nil }
        let words = words(of: name)
        let whole = Array(words.joined().utf8)
        let isPart = whole.indices.contains { parts.contains(atStartOf: whole[$0...]) }
        if isPart || words.contains(where: certain.contains) || certain.contains(words.joined()) { return .certain }
        if whole.suffix(4).elementsEqual("keys".utf8) || whole.suffix(3).elementsEqual("key".utf8) { return .key }
        let isPersonal = words.count > 1 && words.last.map(personal.contains) == true
        return isPersonal || likely.contains(words.joined()) ? .likely : nil
    }

    /// Returns whether a header field with this name holds a credential.
    package static func isCredential(field name: String) -> Bool {
        switch suggestion(of: name) {
        case .certain: true
        // All other fields with a key identify an app or a user to the server.
        case .key: !["idempotency-key", "sec-websocket-key", "surrogate-key"].contains(name.lowercased())
        case .likely, nil: false
        }
    }

    /// Returns the words of a name, without digits and punctuation, in lower case.
    ///
    /// A word begins after anything that is no letter, and at a capital letter after a small one.
    private static func words(of name: String) -> [String] {
        // `ＴＯＫＥＮ` and `ſecret` are read as ASCII letters by many servers.
        let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
        let name =
            isASCII
            ? name
            : name.precomposedStringWithCompatibilityMapping.folding(
                options: .diacriticInsensitive,
                locale: nil
            )
        var (words, word, wasSmall): ([String], [UInt8], Bool) = ([], [], false)
        for byte in Array(name.utf8) + [0] {
            let isSmall = UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
            if !byte.isASCIILetter || wasSmall && !isSmall, !word.isEmpty {
                words.append(String(decoding: word, as: UTF8.self))
                word = []
            }
            if byte.isASCIILetter { word.append(byte | 0x20) }
            wasSmall = isSmall
        }
        return words
    }

    /// The parts of names that make a name one of a secret.
    private static let parts = Beginnings([
        "token", "secret", "passw", "passphrase", "passcode", "passkey", "pwd", "apikey", "accesskey", "privatekey",
        "secretkey", "accountkey", "signingkey", "sharedkey", "licensekey", "licencekey", "subscriptionkey",
        "encryptionkey", "masterkey", "hmac", "signature", "credential", "session", "sessid", "jwt", "bearer",
        "cookie", "csrf", "xsrf", "assertion", "ticket", "mnemonic", "codeverifier", "connectionstring", "kennwort",
        "motdepasse", "contrasen", "wachtwoord", "oauth", "authoriz", "authoris", "authent", "authkey", "authcode",
        "accesscode", "verificationcode", "resetcode", "recoverycode", "activationcode", "confirmationcode",
        "logincode", "smscode", "mfacode", "facode", "onetimecode", "backupcode", "devicecode", "usercode", "twofactor",
        "securityanswer", "recoveryphrase", "seedphrase", "remoteuser", "clientcert", "clientprincipal", "authdata",
        "authinfo", "userpass", "userauth", "basicauth", "httpauth", "storepass", "keypass", "userpw", "dbpw", "newpw",
        "mypw", "authpw", "aspxauth", "securitycode", "cardnumber", "oobcode", "passord", "losenord", "salasana",
    ])
    private static let certain: Set = [
        "auth", "authz", "authn", "pass", "pw", "pswd", "psw", "psk", "pin", "otp", "totp", "mfa", "tan", "lsid",
        "osid", "sig", "sign", "sid", "tok", "tkn", "cred", "creds", "xauth",
        "hdnea", "hdnts", "hdntl", "saml", "samlresponse", "dpop", "mdp", "clave", "senha", "haslo", "cvv", "cvc",
        "ssn", "iban", "pat", "stok", "heslo", "jelszo", "lozinka", "pword", "pswrd", "mtan", "accessid",
        "googleaccessid", "awsaccesskeyid", "samlart", "xjfrogartapi", "xhoneycombteam",
    ]
    /// True for a parameter that is the same for every visitor, although it looks like a secret.
    ///
    /// Facebook's pictures have several.
    static func isPublic(_ name: String) -> Bool { name.hasPrefix("_nc_") || publicNames.contains(name) }

    /// The names of Vercel's deployments, Drupal's lists of stylesheets, pictures of Unsplash and YouTube, fonts of
    /// Google and Adobe, reCAPTCHA, Webflow's sites, and Google Tag Manager.
    private static let publicNames: Set = [
        "dpl", "include", "ixid", "sqp", "rs", "kit", "primer", "render", "site", "gtm_auth", "gtm_cookies_win",
    ]
    private static let likely: Set = [
        "code", "state", "nonce", "email", "user", "username", "login", "account", "policy", "verifier", "challenge",
        "magic", "invite", "activation", "verification",
    ]
    private static let personal: Set = ["email", "login", "username"]

    /// The parameters beside which another is a secret if it is long enough.
    ///
    /// They are those of Subsonic and InfluxDB (a user and a password), of OAuth (RFC 6749 §4.1.2, RFC 9207), of
    /// Telegram, and of links of WordPress for a new password.
    static let pairs = [
        "u": ("p", 1), "state": ("code", 10), "iss": ("code", 10), "auth_date": ("hash", 32), "login": ("key", 16),
    ]

    /// The parameters that are secrets if they are long, with their minimum lengths: OAuth's code, and the keys and
    /// sessions of Kaltura, Last.fm, OpenWeather and Baidu.
    static let long = ["code": 40, "ks": 30, "sk": 32, "appid": 32, "ak": 24]

    /// Returns whether a segment of a path comes before the random part of a link that is sent to one person, as in
    /// `/password/reset/…`, `/verify-email/…` and `/calendar/ical/…`.
    static func isOfLink(_ segment: String) -> Bool {
        let words = words(of: segment)
        return words.contains(where: links.contains) || links.contains(words.joined()) || isOfCalendar(segment)
    }

    /// Returns whether the address of a calendar may follow, which is a secret if it ends in `.ics`.
    static func isOfCalendar(_ segment: String) -> Bool {
        ["calendar", "calendars", "ical", "icalendar"].contains(segment.lowercased())
    }

    private static let links: Set = [
        "reset", "verify", "verification", "verifications", "activate", "activation", "activations", "confirm",
        "confirmation", "confirmations", "recover",
        "recovery", "forgot", "unsubscribe", "invite", "invitation", "invitations", "enroll", "emaillogin",
        "magiclink", "ks",
    ]

    /// Returns whether a random segment may follow a segment that is named like a secret, without being one.
    ///
    /// It does after `tokens` (of currencies), `pin` (Skypack's packages) and `oauth_google` (Clerk's pictures).
    static func isPublicFolder(_ segment: String) -> Bool {
        ["tokens", "pin"].contains(segment) || segment.hasPrefix("oauth_")
    }

    /// The schemes of the `Authorization` field, after which a secret follows.
    package static let schemes: Set = [
        "bearer", "basic", "digest", "token", "negotiate", "ntlm", "hawk", "apikey", "signature", "sharedkey", "oauth",
        "dpop", "hmac", "credential", "sharedaccesssignature",
    ]

    /// The beginnings by which services and formats mark their secrets.
    ///
    /// They are those of JSON in base64 (as in a JWT), PASETO, Amazon, GitHub, GitLab, Slack, Stripe, Google, OpenAI,
    /// Anthropic, npm, SendGrid, DigitalOcean, Shopify, PyPI, Square, Facebook, Hugging Face, Atlassian, Vault, Figma,
    /// Sentry, Grafana, Linear, Notion, Postman, New Relic, Dropbox, Docker, PlanetScale,
    /// Supabase, Groq, xAI, HubSpot, Bitbucket, PEM, RubyGems, Tailscale, Perplexity, Replicate, Brevo, Contentful,
    /// Heroku and Vercel.
    static let marks = Beginnings([
        "eyJ", "ewog", "eyAi", "v1.local.", "v2.local.", "v3.local.", "v4.local.", "v1.public.", "v2.public.",
        "v3.public.", "v4.public.", "AKIA",
        "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glcbt-",
        "glptt-", "glft-", "gloas-", "glagent-", "glimt-", "glsoat-", "xoxc-", "xoxd-", "xoxb-", "xoxp-", "xoxa-",
        "xoxe-", "xoxe.", "xoxs-", "xoxr-", "xapp-", "sk_live_", "sk_test_",
        "rk_live_", "rk_test_", "whsec_", "AIza", "ya29.", "GOCSPX-", "sk-proj-", "sk-ant-", "sk-or-", "sk-svcacct-",
        "sk-admin-", "gsk_", "xai-", "pat-na1-", "pat-eu1-",
        "npm_", "SG.", "dop_v1_", "doo_v1_",
        "dor_v1_", "shpat_", "shpca_", "shppa_", "shpss_", "pypi-", "sq0atp-", "sq0csp-", "EAAC", "EAAB", "EAAA",
        "EAAD", "EAAG", "EAAJ",
        "hf_", "ATATT3", "ATCTT3", "ATBB", "shpua_", "lin_oauth_", "dckr_oat_", "sl.u.", "hvs.", "hvb.", "figd_",
        "sntrys_", "sntryu_", "glsa_", "glc_", "lin_api_", "ntn_",
        "PMAK-", "NRAK-", "sl.B", "dckr_pat_", "pscale_", "sbp_", "AGE-SECRET-KEY-", "-----BEGI",
        "rubygems_", "tskey-", "pplx-", "r8_", "xkeysib-", "CFPAT-", "HRKU-", "sb_secret_", "vercel_blob_rw_",
    ])

    /// The marks with which words and names of files also begin, such as `npm_modules` and `SG.html`.
    static let weakMarks = Beginnings([
        "eyJ", "ewog", "eyAi", "AIza", "sk-or-", "npm_", "SG.", "v1.local.", "v2.local.", "v3.local.", "v4.local.",
        "v1.public.", "v2.public.", "v3.public.", "v4.public.", "EAAC", "EAAB", "EAAA",
        "EAAD", "EAAG", "EAAJ", "ATBB",
        "gsk_", "xai-", "pat-na1-", "pat-eu1-", "glft-", "gloas-", "glagent-", "glimt-", "ghs_", "sk-admin-", "sl.u.",
        "hf_", "glc_", "sl.B",
        "rubygems_", "tskey-", "pplx-", "r8_", "CFPAT-", "HRKU-",
        "pypi-", "sbp_", "xapp-", "hvs.", "hvb.", "ntn_", "figd_", "pscale_", "lin_api_", "glsa_",
    ])

    /// The marks of keys that a site gives to every visitor, as in signed URLs.
    static let marksOfSites = Beginnings(["AIza", "AKIA", "ASIA"])

    /// Words, grouped by their first byte.
    struct Beginnings: Sendable {
        private let words: [UInt8: [[UInt8]]]

        init(_ words: [String]) { self.words = Dictionary(grouping: words.map { Array($0.utf8) }, by: { $0[0] }) }

        /// Returns whether a text begins with one of the words.
        func contains(atStartOf text: ArraySlice<UInt8>) -> Bool {
            guard let words = text.first.flatMap({ words[$0] }) else { return false }
            return text.withUnsafeBytes { text in
                guard let start = text.baseAddress else { return false }
                return words.contains { $0.count <= text.count && memcmp($0, start, $0.count) == 0 }
            }
        }
    }
}

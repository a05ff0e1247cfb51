import Foundation
import LocalSubstitutionCache

/// A password, key or token in a file; everybody who has the app could read it.
enum Secret {
    /// Returns the name or the beginning of the first secret in a file, and its line; nil if there is none.
    static func found(in file: FileSample) -> (name: String, line: Int)? {
        guard file.text != nil || !FileFormat.isBinary(file.head), file.size > 0 else { return nil }
        let data = file.text ?? Data(file.head)
        let text = String(decoding: data, as: UTF8.self)
        let isMarked = marks.contains { data.range(of: Data($0.utf8)) != nil }
        for match in isMarked ? text.matches(of: known) : [] where !isExample(match.0) {
            let name = match.0.hasPrefix("-----") ? "PRIVATE KEY" : String(match.0.prefix(5)) + "…"
            return (name, line(of: match.range.lowerBound, in: text))
        }
        // Scripts and pages hold names of fields and messages about passwords, so only data is searched by name.
        guard !file.isCode, !file.type.isHTML, !file.type.isXML, data.count < 1_000_000 else { return nil }
        let isLines = !file.type.isJSON
        guard isLines ? file.size < 20_000 && text.contains(where: { "=:".contains($0) }) : true else { return nil }
        for match in text.matches(of: isLines ? assignment : member) {
            let (name, value) = (String(match.1), String(match.2))
            guard isSecret(name, value), !isExample(match.2) else { continue }
            return (name, line(of: match.1.startIndex, in: text))
        }
        return nil
    }

    private static func line(of place: String.Index, in text: String) -> Int {
        text.utf8[..<place].count { $0 == UInt8(ascii: "\n") } + 1
    }

    /// The beginnings by which services mark their own secrets.
    private static let marks = [
        "PRIVATE KEY", "AKIA", "ASIA", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xapp-",
        "sk_live_",
        "rk_live_", "whsec_", "sk-ant-", "sk-proj-", "npm_", "SG.", "hooks.slack.com/services/", "AGE-SECRET-KEY-",
        "dop_v1_",
        "shpat_", "pypi-",
    ]

    /// Secrets in the forms of the services that issue them.
    nonisolated(unsafe) private static let known =
        /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----\s*[A-Za-z0-9+\/=\\]{20}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pos]_[A-Za-z0-9]{36}|\bgithub_pat_[A-Za-z0-9_]{50,}|\bglpat-[A-Za-z0-9_\-]{20}|\bxox[bp]-[0-9A-Za-z\-]{20,}|\bxapp-[0-9A-Za-z\-]{20,}|\b[sr]k_live_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9]{24,}|\bsk-(?:ant|proj)-[A-Za-z0-9_\-]{20,}|\bnpm_[A-Za-z0-9]{36}|\bSG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}|hooks\.slack\.com\/services\/T[A-Z0-9]+\/B[A-Z0-9]+\/[A-Za-z0-9]{20,}|AGE-SECRET-KEY-1[A-Z0-9]{50,}|\bdop_v1_[a-f0-9]{60,}|\bshpat_[a-f0-9]{32}|\bpypi-[A-Za-z0-9_\-]{50,}/
    nonisolated(unsafe) private static let member = /"([A-Za-z][\w.\- ]{1,40})"\s*:\s*"([^"\\\n]{6,4000})"/
    nonisolated(unsafe) private static let assignment =
        /(?:^|\n)[ \t]*(?:export[ \t]+)?["']?([A-Za-z][\w.\-]{1,40})["']?[ \t]*[:=][ \t]*["']?([^\s"'#]{6,4000})/

    private static let passwords: Set = [
        "password", "passwd", "pwd", "passphrase", "pass", "dbpassword", "smtppassword",
    ]
    private static let keys = [
        "apikey", "apisecret", "secretkey", "secret", "clientsecret", "accesstoken", "refreshtoken", "authtoken",
        "privatekey",
        "accesskey", "secretaccesskey", "signingkey", "encryptionkey", "bearertoken", "webhooksecret", "servicerolekey",
        "token",
        "password", "apitoken", "connectionstring", "appsecret", "masterkey", "idtoken", "sessiontoken",
    ]

    private static func isSecret(_ name: String, _ value: String) -> Bool {
        let name = name.lowercased().filter(\.isLetter)
        if passwords.contains(name) || name.hasSuffix("password") {
            // A caption such as "Password" has no digit.
            return value.count < 100 && !value.contains(" ") && value.contains(where: \.isNumber)
                && value.contains(where: \.isLetter)
        }
        guard keys.contains(where: name.hasSuffix) else { return false }
        return looksRandom(value)
    }

    /// True for a value that no person would write as a word or a name.
    private static func looksRandom(_ value: String) -> Bool {
        guard value.count >= 16,
            value.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "-_.+/=:~".utf8.contains($0) }),
            !value.contains("://")
        else { return false }
        // The name of a design token, such as `color-background-100`, consists of words.
        return value.split { "-_.:/".contains($0) }.contains { part in
            part.count >= 12 && part.contains(where: \.isNumber) && part.contains(where: \.isLetter)
                && part.count { $0.isNumber } > 1
        }
    }

    /// True for a value that a manual shows in place of a secret.
    private static func isExample(_ value: Substring) -> Bool {
        let text = value.lowercased()
        return ["example", "xxxx", "your", "<", "{", "$", "placeholder", "changeme", "dummy", "…", "***"].contains(
            where: text.contains
        )
    }
}

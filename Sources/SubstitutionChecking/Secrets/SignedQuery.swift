import Foundation
import SubstitutionStandards

/// The query of a URL, whose parameters may sign the URL until a time.
///
/// References: Amazon S3 "Query string authentication", Google Cloud Storage "Signed URLs", Azure "SAS", CloudFront
/// "Signed URLs", Akamai "Token authentication".
struct SignedQuery {
    /// The parameters, decoded.
    let parameters: [(name: String, value: String)]
    /// The names of the parameters, in lower case.
    private let names: Set<String>
    private let hasProofAndTime: Bool
    /// True if a name is one of a signature with a prefix.
    private let hasSignature: Bool

    init(_ query: some StringProtocol) {
        parameters = query.split { "&;".contains($0) }.map { part in
            let name = part.prefix { $0 != "=" }
            let value = part.dropFirst(name.count + 1)
            return (name.percentDecoded ?? String(name), value.percentDecoded ?? String(value))
        }
        names = Set(parameters.map { $0.name.lowercased() })
        hasSignature = names.contains { $0.hasSuffix("signature") || $0.hasSuffix("expires") || $0.hasPrefix("q-") }
        hasProofAndTime = !names.isDisjoint(with: Self.proofs) && parameters.contains(where: Self.isTime)
    }

    /// The names of the parameters that belong to the signature; empty if the URL is not signed.
    var signed: [String] { parameters.filter(isOfSignature).map(\.name) }

    /// The name of the parameter with the time after which the server refuses the URL; nil if there is none.
    ///
    /// - Parameter isSecret: True if the query is known to hold a secret, which may be a signature.
    /// - Returns: The name, decoded.
    func expiry(ifSecret isSecret: Bool) -> String? {
        let signed = Set(signed)
        let times = parameters.filter { parameter in
            let name = parameter.name.lowercased()
            // These two hold the time beside the proof.
            if signed.contains(parameter.name), name == "policy" || Self.ofAkamai.contains(name) { return true }
            guard Self.expiries.contains(name) || name.hasSuffix("-expires") else { return false }
            return isSecret && Self.words.contains(name) || signed.contains(parameter.name) || Self.isDate(parameter)
        }
        return times.first?.name
    }

    /// The beginnings of the names of parameters that sign a URL, in lower case.
    static let prefixes = ["x-amz-", "x-goog-", "x-oss-", "x-cos-"]

    private static let words: Set = ["expires", "expiry", "expiration", "exp", "expire", "expiresat", "expires_at"]
    private static let expiries = words.union([
        "x-expires", "e", "ex", "oe", "deadline", "se", "validuntil", "valid_until", "token_expires", "ttl", "until",
        "t",
    ])
    private static let proofs: Set = [
        "signature", "sig", "sign", "s", "st", "token", "hmac", "hash", "md5", "x-signature", "oh", "hm", "is",
        "policy", "key-pair-id", "awsaccesskeyid", "googleaccessid", "ossaccesskeyid", "key", "auth", "auth_token",
        "secure", "sparams", "lsig", "security-token", "response-signature",
    ]
    private static let ofAkamai: Set = ["hdnts", "hdnea", "hdntl", "__token__"]
    /// The parameters of Azure's shared access signatures.
    private static let ofAzure: Set = [
        "sig", "se", "st", "sp", "sv", "sr", "spr", "sip", "ss", "srt", "si", "sks", "ske", "skv", "skt", "skoid",
        "sktid", "sdd",
    ]

    private func isOfSignature(_ name: String, _ value: String) -> Bool {
        let word = name.lowercased()
        if (Self.prefixes + ["q-sign-", "q-ak"]).contains(where: word.hasPrefix) { return hasSignature }
        if Self.ofAkamai.contains(word) { return value.contains("exp") || value.contains("hmac") }
        if ["verify", "auth_key"].contains(word) { return value.prefixMatch(of: Self.datedProof) != nil }
        if names.isSuperset(of: ["sig", "se"]) { return Self.ofAzure.contains(word) }
        if names.isSuperset(of: ["policy", "signature"]) {
            return ["policy", "signature", "key-pair-id", "expires"].contains(word)
        }
        return hasProofAndTime && (Self.proofs.contains(word) || Self.isTime((name, value)))
    }

    nonisolated(unsafe) private static let datedProof = /[0-9]{10}-/
    /// Seconds or milliseconds since 1970, the same in hexadecimal digits, or a date.
    nonisolated(unsafe) private static let time =
        /1[0-9]{9}([0-9]{3})?|[5-9a-fA-F][0-9a-fA-F]{7}|20[0-9]{2}-?[01][0-9]-?[0-9]{2}.*/

    private static func isTime(_ parameter: (name: String, value: String)) -> Bool {
        let name = parameter.name.lowercased()
        return (expiries.contains(name) || ["x-oss-expires", "x-cos-expires"].contains(name))
            && parameter.value.wholeMatch(of: time) != nil
    }

    /// True for seconds or milliseconds since 1970, under a name that can only be that of an expiry.
    private static func isDate(_ parameter: (name: String, value: String)) -> Bool {
        words.contains(parameter.name.lowercased()) && [10, 13].contains(parameter.value.count)
            && parameter.value.allSatisfy(\.isNumber)
    }
}

import LocalSubstitutionCache
import SubstitutionRules

/// Warnings about URLs, types and header fields that are valid but probably wrong.
///
/// Browsers do not give such a URL, type or field the meaning that the designer probably intended.
extension ManifestResolver {
    mutating func warnOfFields() {
        for entry in manifest.entries {
            let offset = entry.key.offset
            let key =
                entry.pattern == nil ? nil : URLAdvice.problem(of: entry.key.value) ?? SignedQuery.warning(for: entry)
            if let key { report(.warning, .unlikelyURL, offset, key) }
            if case .ignoring(let names) = entry.query,
                let sentence = names.firstResult({ name in
                    let text = name.description.percentDecoded ?? name.description
                    return AdviceTable.current.parameters.sentence(about: text)
                })
            {
                report(.warning, .unlikelyURL, entry.queryOffset ?? offset, sentence)
            }
            if let type = entry.type, let meant = Self.type(meantBy: type, of: entry.file?.value ?? "") {
                let sentence = "browsers do not know the type \(quoted(type.essence)); write \(quoted(meant.essence))"
                report(.warning, .unlikelyType, entry.typeOffset ?? offset, sentence)
            }
            let origin = entry.headers.first { $0.key.lowercased() == "access-control-allow-origin" }?.value
            if let origin, let sentence = AdviceTable.current.origins.sentence(about: origin) {
                report(.warning, .unlikelyHeader, entry.headersOffset ?? offset, sentence)
            }
        }
    }

    /// Returns the type of the file's extension if an unknown type resembles it; otherwise nil.
    ///
    /// The app itself may define an unknown type that resembles no known type.
    private static func type(meantBy type: MediaType, of file: String) -> MediaType? {
        guard !MediaType.isKnown(type.essence), type.synonyms == [type.essence], let own = MediaType(fileName: file)
        else { return nil }
        let isNear = own.essence.hasPrefix(type.essence) || suggestion(for: type.essence, among: [own.essence]) != nil
        return isNear ? own : nil
    }
}

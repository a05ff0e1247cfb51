import LocalSubstitutionCache
import SubstituteCheckKit

extension ReportFormat {
    /// Returns the option that chooses a format, in which JSON has an object for each of certain things.
    static func option(
        of thing: String,
        _ formats: [ReportFormat] = allCases,
        otherwise: String = "The output format"
    ) -> Option<ReportFormat?> {
        let names = formats.map(\.rawValue)
        let help = "\(otherwise): text; json, one object for each \(thing)"
        return Option(
            "format",
            value: "format",
            choices: names,
            formats.contains(.github) ? "\(help); or github,\nworkflow annotations." : "\(help)."
        ) { name in
            if let format = ReportFormat(rawValue: name), formats.contains(format) { return format }
            throw UsageError("there is no format \(quoted(name)); the formats are \(names.joined(separator: ", "))")
        }
    }
}

extension CommandOption where Self == Option<Bool> {
    static var json: Self { Self("json", "The same as --format json.") }
}

extension Arguments {
    /// The format that `option` or `--json` names; nil if neither was given.
    func format(_ option: Option<ReportFormat?>) throws -> ReportFormat? {
        let named = try self[option]
        return has(.json) ? .json : named
    }
}

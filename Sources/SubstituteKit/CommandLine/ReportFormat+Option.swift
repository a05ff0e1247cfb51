import LocalSubstitutionCache
import SubstituteCheckKit

extension ReportFormat {
    /// Returns the option that chooses a format, in which JSON has an object for each of certain things.
    static func option(of thing: String) -> Option<ReportFormat?> {
        let names = allCases.map(\.rawValue)
        return Option(
            "format",
            value: "format",
            choices: names,
            "The output format: text; json, one object for each \(thing); or github,\nworkflow annotations."
        ) { name in
            if let format = ReportFormat(rawValue: name) { return format }
            throw UsageError("there is no format \(quoted(name)); the formats are \(names.joined(separator: ", "))")
        }
    }
}

import LocalSubstitutionCache
import SubstituteCheckKit

extension ReportFormat {
    /// Returns the option that chooses one of these formats.
    static func option(_ formats: [ReportFormat] = allCases) -> Option<ReportFormat?> {
        let names = formats.map(\.rawValue)
        return Option("format", value: "format", choices: names) { name in
            if let format = ReportFormat(rawValue: name), formats.contains(format) { return format }
            throw UsageError("there is no format \(quoted(name)); the formats are \(names.joined(separator: ", "))")
        }
    }
}

import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

extension RecordedSource.Filter {
    /// The options that only recordings and pages in a browser have.
    static let options: [any CommandOption] = [only, onlyHost, exclude, stripQuery]

    /// Reads the options of the command line.
    init(_ arguments: Arguments) throws {
        (kinds, hosts) = try (arguments[Self.only], arguments[Self.onlyHost])
        (exclusions, limit) = try (arguments[Self.exclude], arguments[.maxSize]?.bytes)
        (stripsQuery, includesPrivate) = (arguments.has(Self.stripQuery), arguments.has(.includePrivate))
    }

    private static let onlyHost = HostSelection.option("only-host")
    private static let only = Option(repeated: "only", value: "kinds", kinds)
    private static let exclude = Option(repeated: "exclude", value: "part") { parts in
        if parts.contains("") { throw UsageError("--exclude needs a part of a URL") }
        return parts
    }
    private static let stripQuery = Option("strip-query")

    @Sendable private static func kinds(_ texts: [String]) throws(UsageError) -> Set<ResourceKind> {
        let words = texts.flatMap { $0.split(separator: ",") }.map { $0.lowercased().filter { $0 != " " } }
        return try Set(
            words.map { word throws(UsageError) in
                if let kind = ResourceKind(rawValue: word) { return kind }
                let names = ResourceKind.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError("there is no kind \(quoted(word)); the kinds are \(names)")
            }
        )
    }
}

import Foundation
import LocalSubstitutionCache

/// Measures the library against what developers would use instead.
@main
struct Main {
    static let help = """
        USAGE: WITHOUT_PLUGINS=1 swift run -c release Benchmarks [--quick] [--filter TEXT] [--table PAGE] [--check]

        Prints a row for each measurement and baseline: the median of rounds in which both are timed in turn, and the median
        of the rounds' ratios. "x slower" in a target of "≥" counts how many times longer the baseline takes.

        OPTIONS:
          --quick        Fewer rounds, and smaller tables.
          --filter TEXT  Only the groups whose name contains this, such as "task".
          --table PAGE   Replace the table in a page, such as Benchmarks/README.md.
          --check        Exit with 1 when a ratio misses its target by more than a factor of three.
          -h, --help     Print this.
        """

    static func main() throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        guard try !Child.runIfAsked(arguments) else { return }
        var (isQuick, isChecked, filter, page) = (false, false, "", "")
        while let argument = arguments.first {
            arguments.removeFirst()
            switch argument {
            case "--quick": isQuick = true
            case "--check": isChecked = true
            case "--filter" where !arguments.isEmpty: filter = arguments.removeFirst()
            case "--table" where !arguments.isEmpty: page = arguments.removeFirst()
            case "--help", "-h": return print(help)
            default:
                FileHandle.standardError.write(Data("Benchmarks does not know \(argument); see --help\n".utf8))
                exit(2)
            }
        }
        let stopwatch = Stopwatch(rounds: isQuick ? 7 : 21)
        let lookups = Lookups(stopwatch: stopwatch, batch: isQuick ? 500 : 2000)
        let sessions = Sessions(stopwatch: stopwatch, batch: isQuick ? 5 : 20)
        let loading = Loading(stopwatch: Stopwatch(rounds: isQuick ? 5 : 15))
        let groups: [(String, () throws -> [MeasuredRow])] = [
            ("hit", lookups.hits),
            ("hit, other", lookups.otherSpellings),
            ("miss", lookups.misses),
            ("size of the table", { try lookups.sizes(isQuick ? [10, 1000, 10_000] : [10, 1000, 100_000]) }),
            ("threads", lookups.threads),
            ("load", loading.files),
            ("parser", { try loading.parser(isQuick ? 10_000 : 100_000) }),
            ("task", sessions.rows),
            ("memory", { try Child.memoryRows(isQuick: isQuick) }),
            ("launch", { try Child.launchRows(isQuick: isQuick) }),
            ("app start", { try Child.startRows(rounds: isQuick ? 5 : 15) }),
        ]
        var rows: [MeasuredRow] = []
        for (name, measure) in groups where filter.isEmpty || name.contains(filter) {
            let measured = try measure()
            if rows.isEmpty { print(Table.header) }
            for row in measured { print(Table.line(row)) }
            rows += measured
        }
        if rows.isEmpty {
            let names = groups.map { "\"\($0.0)\"" }.joined(separator: ", ")
            FileHandle.standardError.write(Data("Benchmarks has no group \"\(filter)\"; it has \(names)\n".utf8))
            exit(2)
        }
        if !page.isEmpty { try Table.write(rows, to: URL(fileURLWithPath: page)) }
        let missed = rows.filter { $0.target?.isMet(by: $0.ratio, within: 3) == false }
        if isChecked, !missed.isEmpty {
            print("\nMissed by more than a factor of three: \(missed.map(\.name).joined(separator: "; "))")
            exit(1)
        }
    }
}

/// Prints rows in columns, or as a table of a page.
enum Table {
    static let header = line("measurement", "", "against", "ratio", "target", "")

    static func line(_ row: MeasuredRow) -> String {
        let verdict = row.target.map { $0.isMet(by: row.ratio) ? "met" : "missed" } ?? ""
        return line(
            row.name,
            "\(MeasuredRow.format(row.value)) \(row.unit)",
            row.baseline,
            "\(MeasuredRow.format(row.ratio)) ×",
            row.target?.description ?? "",
            verdict
        )
    }

    /// Replaces the table in a page with the rows that have a target, and those of launches.
    static func write(_ rows: [MeasuredRow], to page: URL) throws {
        let lines = try String(contentsOf: page, encoding: .utf8).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        guard let start = lines.firstIndex(of: head), lines.indices.contains(start + 1) else {
            FileHandle.standardError.write(Data("\(page.path) has no line \(head)\n".utf8))
            exit(2)
        }
        let body = rows.filter { $0.target != nil || $0.name.hasPrefix("launch") }.map { row in
            let (value, ratio) = (MeasuredRow.format(row.value), MeasuredRow.format(row.ratio))
            let target = row.target.map { " (\($0.description))" } ?? ""
            return "|\(row.name)|\(value) \(row.unit)|\(ratio)\(target)|\(row.baseline)|"[...]
        }
        let rest = lines[(start + 2)...].drop { $0.hasPrefix("|") }
        try (lines[...(start + 1)] + body + rest).joined(separator: "\n").write(
            to: page,
            atomically: true,
            encoding: .utf8
        )
    }

    /// The first line of the table in a page.
    private static let head: Substring = "|measurement|value|ratio (target)|against|"

    private static func line(_ columns: String...) -> String {
        zip(columns, [62, 13, 34, 9, 8, 6]).map { text, width in
            text + String(repeating: " ", count: max(1, width - text.count))
        }.joined().trimmingCharacters(in: .whitespaces)
    }
}

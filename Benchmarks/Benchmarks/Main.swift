import Foundation
import LocalSubstitutionCache

/// Measures the library against what developers would use instead.
@main
struct Main {
    static let help = """
        USAGE: swift run -c release --package-path Benchmarks Benchmarks [--quick] [--filter TEXT] [--json FILE] [--check]

        Prints a row for each measurement and baseline: the median of rounds in which both are timed in turn, and the median
        of the rounds' ratios. "x slower" in a target of "≥" counts how many times longer the baseline takes.

        OPTIONS:
          --quick        Fewer rounds, and smaller tables.
          --filter TEXT  Only the measurements whose group or name contains this.
          --json FILE    Write the rows to a file, too.
          --check        Exit with 1 when a ratio misses its target by more than a factor of three.
          -h, --help     Print this.
        """

    static func main() throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        guard try !Child.runIfAsked(arguments) else { return }
        var (isQuick, isChecked, filter, file) = (false, false, "", "")
        while let argument = arguments.first {
            arguments.removeFirst()
            switch argument {
            case "--quick": isQuick = true
            case "--check": isChecked = true
            case "--filter" where !arguments.isEmpty: filter = arguments.removeFirst()
            case "--json" where !arguments.isEmpty: file = arguments.removeFirst()
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
        if !file.isEmpty {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(rows).write(to: URL(fileURLWithPath: file))
        }
        let missed = rows.filter { $0.target?.isMet(by: $0.ratio, within: 3) == false }
        if isChecked, !missed.isEmpty {
            print("\nMissed by more than a factor of three: \(missed.map(\.name).joined(separator: "; "))")
            exit(1)
        }
    }
}

/// Prints rows in columns.
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

    private static func line(_ columns: String...) -> String {
        zip(columns, [62, 13, 34, 9, 8, 6]).map { text, width in
            text + String(repeating: " ", count: max(1, width - text.count))
        }.joined().trimmingCharacters(in: .whitespaces)
    }
}

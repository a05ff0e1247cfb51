import Foundation
import LocalSubstitutionCache

/// The designers' tool.
@main
enum Main {
    static let version = "1.0.0"

    static func main() {
        let console = Console()
        let status = run(Array(CommandLine.arguments.dropFirst()), console)
        console.flush()
        exit(status)
    }

    private static func run(_ words: [String], _ console: Console) -> Int32 {
        guard let first = words.first else {
            console.complain(Command.overview)
            return 2
        }
        if ["help", "--help", "-h"].contains(first) {
            let command = words.dropFirst().first.flatMap { name in Command.all.first { $0.name == name } }
            console.print(command?.help ?? Command.overview)
            return 0
        }
        if first == "--version" {
            console.print("substitute \(version)")
            return 0
        }
        guard let command = Command.all.first(where: { $0.name == first }) else {
            let meant = suggestion(for: first, among: Command.all.map(\.name)).map { "; did you mean \"\($0)\"?" } ?? ""
            console.complain("substitute: there is no command \(quoted(first))\(meant)\nSee substitute --help.")
            return 2
        }
        do {
            let arguments = try Arguments(words.dropFirst(), command.options + [.help])
            if arguments.has("help") {
                console.print(command.help)
                return 0
            }
            return try command.run(arguments, console)
        } catch let error as UsageError {
            console.complain("substitute \(command.name): \(error.message)\nSee substitute \(command.name) --help.")
            return 2
        } catch {
            console.complain("substitute \(command.name): \(error.localizedDescription)")
            return 1
        }
    }
}

import Foundation
import SubstituteCheckKit

/// Checks a manifest during a build; this executable links only the modules for the check.
@main
enum Main {
    static func main() {
        // If the reader of a pipe closes the pipe, the check ends without a message, as other programs do.
        signal(SIGPIPE, SIG_DFL)
        let environment = ProcessInfo.processInfo.environment
        let console = Console(
            folder: FileManager.default.currentDirectoryPath,
            environment: environment,
            sink: { if !StandardStreams.write($1, to: $0) { exit(1) } },
            source: { StandardStreams.read(environment) }
        )
        exit(BuildCheck.run(Array(CommandLine.arguments.dropFirst()), console).rawValue)
    }
}

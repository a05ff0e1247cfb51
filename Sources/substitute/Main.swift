import Foundation
import SubstituteCheckKit
import SubstituteKit

@main
enum Main {
    static func main() async {
        ParentWatch.begin()
        // If the reader of a pipe closes the pipe, the tool ends without a message, as other programs do.
        signal(SIGPIPE, SIG_DFL)
        let environment = ProcessInfo.processInfo.environment
        let console = Console(
            folder: FileManager.default.currentDirectoryPath,
            environment: environment,
            terminals: StandardStreams.terminals,
            interruptions: { EndingSignals($0) },
            sink: { if !StandardStreams.write($1, to: $0) { exit(1) } },
            source: { StandardStreams.read(environment) }
        )
        let status = await CommandLineTool.run(Array(CommandLine.arguments.dropFirst()), console)
        EndingSignals.wait()
        exit(status.rawValue)
    }
}

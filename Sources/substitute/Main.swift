import Foundation
import SubstituteKit

@main
enum Main {
    static func main() async {
        ParentWatch.begin()
        // A reader that closes its pipe ends the tool quietly, as it ends others.
        signal(SIGPIPE, SIG_DFL)
        exit(await CommandLineTool.run(Array(CommandLine.arguments.dropFirst()), Console()))
    }
}

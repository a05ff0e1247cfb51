import Foundation

/// The command line of a program that shows the library's work.
package enum Program {
    /// An error with a sentence for the user.
    package struct Failure: Error {
        let message: String
        let status: Int32

        /// Creates an error after which the program exits with 1.
        package init(_ message: String) { (self.message, status) = (message, 1) }

        /// Creates an error of the command line, after which the program exits with 2.
        package init(usage message: String) { (self.message, status) = ("\(message); see --help", 2) }
    }

    /// Runs a program with the words of its command line; after an error, prints it and exits.
    package static func run(_ work: @Sendable ([String]) async throws -> Void) async {
        do {
            try await work(Array(CommandLine.arguments.dropFirst()))
        } catch {
            let failure = error as? Failure ?? Failure("\(error)")
            FileHandle.standardError.write(Data((failure.message + "\n").utf8))
            exit(failure.status)
        }
    }

    /// Prints a text and a line break.
    package static func say(_ text: String) {
        // Write without a buffer, so that the reader of a pipe also receives each text immediately.
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}

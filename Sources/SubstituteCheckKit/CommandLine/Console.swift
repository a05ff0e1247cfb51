package import Foundation
import LocalSubstitutionCache
import SubstitutionChecking

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The surroundings of a command: streams, the current folder, environment variables, a clock and the network.
///
/// A command reaches these only through its console.
///
/// Output is collected and written in large pieces.
package final class Console {
    /// A stream that a command writes to.
    package enum Stream: Int32, Sendable {
        case output = 1
        case errors = 2
    }

    /// Registers a closure that is called when a signal asks the process to end.
    ///
    /// The closure stays registered while the returned object exists. The closure undoes what the command has done, and
    /// returns true. It returns false if the command's changes are already complete.
    package typealias Interruptions = @Sendable (_ undo: @escaping @Sendable () -> Bool) -> AnyObject

    private var buffer: [UInt8] = []
    private let sink: @Sendable (Stream, [UInt8]) -> Void
    private let source: @Sendable () -> Result<Data, ToolError>
    private let terminals: Set<Stream>

    /// The folder that relative paths are relative to.
    package let folder: CurrentFolder
    /// The environment variables.
    package let environment: [String: String]
    /// Returns the current time.
    package let now: @Sendable () -> Date
    /// The way in which requests are sent to servers, and in which their progress is shown.
    package let network: Network
    /// Registers what has to be undone if the command is interrupted.
    package let interruptions: Interruptions

    /// Creates a console for a command.
    ///
    /// - Parameters:
    ///   - folder: The path of the folder that relative paths are relative to; empty if it no longer exists.
    ///   - environment: The environment variables.
    ///   - terminals: The streams that are connected to a terminal.
    ///   - configuration: Creates the configuration of sessions.
    ///   - now: Returns the current time.
    ///   - interruptions: See ``Interruptions``.
    ///   - sink: Receives the output, in large pieces, on any thread.
    ///   - source: Returns all of the input.
    package init(
        folder: String,
        environment: [String: String] = [:],
        terminals: Set<Stream> = [],
        configuration: @escaping @Sendable () -> URLSessionConfiguration = { .ephemeral },
        now: @escaping @Sendable () -> Date = { Date() },
        interruptions: @escaping Interruptions = { _ in NSObject() },
        sink: @escaping @Sendable (Stream, [UInt8]) -> Void,
        source: @escaping @Sendable () -> Result<Data, ToolError>
    ) {
        (self.folder, self.environment, self.terminals) = (CurrentFolder(path: folder), environment, terminals)
        (self.now, self.interruptions, self.sink, self.source) = (now, interruptions, sink, source)
        let showProgress: @Sendable (String) -> Void = { sink(.errors, Array($0.utf8)) }
        network = Network(
            configuration: configuration,
            showProgress: terminals.contains(.errors) ? showProgress : nil
        )
    }

    /// True if standard output is a terminal.
    package var isInTerminal: Bool { terminals.contains(.output) }

    /// True if standard output is a terminal that may be given colours (https://no-color.org).
    var isColoured: Bool {
        isInTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// The words with which a user calls the tool.
    package var tool: ToolName { ToolName(environment) }

    /// The folder for files that outlive the command but are not the user's.
    package var temporaryFolder: URL {
        environment["TMPDIR"].map { URL(fileURLWithPath: $0) } ?? FileManager.default.temporaryDirectory
    }

    /// Writes a line to standard output.
    package func print(_ line: String) {
        buffer += (line + "\n").utf8
        if buffer.count > 64 * 1024 { flush() }
    }

    /// Writes a line to standard error.
    package func printError(_ line: String) {
        flush()
        sink(.errors, Array((line + "\n").utf8))
    }

    /// Writes the output that was collected.
    package func flush() {
        sink(.output, buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Returns `text` in a colour if standard output is a terminal with colours, and `text` itself if not.
    package func coloured(_ text: String, _ colour: Colour) -> String {
        isColoured ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// A text style, called "select graphic rendition" in the standard for terminals (ECMA-48 §8.3.117).
    package enum Colour: Int {
        case bold = 1
        case red = 31
        case green = 32
        case yellow = 33
    }

    /// Reads all of standard input.
    ///
    /// - Throws: ``ToolError`` if there is none.
    package func readAll() throws(ToolError) -> Data { try source().get() }

    /// Writes a file, or throws an error with the reason why the file cannot be written.
    package func write(_ text: String, to path: String) throws {
        do {
            try Data(text.utf8).write(to: folder.url(path))
        } catch {
            throw ToolError.unwritable(path)
        }
    }
}

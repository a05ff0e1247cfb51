package import Foundation
import LocalSubstitutionCache

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// What a command has of the machine: streams, a folder, variables, a clock and the network, and nothing else.
///
/// Output is collected and written in large pieces.
package final class Console {
    /// A stream that a command writes to.
    package enum Stream: Int32, Sendable {
        case output = 1
        case errors = 2
    }

    /// Calls a closure when somebody asks the process to end, as long as the object lives that it returns.
    ///
    /// The closure undoes what was begun, and returns false when there is nothing to undo any more.
    package typealias Interruptions = @Sendable (_ undo: @escaping @Sendable () -> Bool) -> AnyObject

    private var buffer: [UInt8] = []
    private let sink: @Sendable (Stream, [UInt8]) -> Void
    private let source: @Sendable () -> Result<Data, ToolError>
    private let terminals: Set<Stream>

    /// The folder that relative paths are relative to.
    package let folder: CurrentFolder
    /// The variables of the environment.
    package let environment: [String: String]
    /// The time.
    package let now: @Sendable () -> Date
    /// How commands ask servers.
    package let network: Network
    /// What becomes of a command that somebody interrupts.
    package let interruptions: Interruptions

    /// A command's surroundings, from whoever calls it.
    ///
    /// - Parameters:
    ///   - folder: The path of the folder that relative paths are relative to; empty when there is none any more.
    ///   - environment: The variables of the environment.
    ///   - terminals: The streams that a person reads as they are written.
    ///   - configuration: Makes the configuration of sessions.
    ///   - now: Tells the time.
    ///   - interruptions: See ``Interruptions``.
    ///   - sink: Takes what is written, in large pieces, on any thread.
    ///   - source: Gives all of the input.
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

    /// Whether a person reads standard output as it is written.
    package var isInTerminal: Bool { terminals.contains(.output) }

    /// Whether standard output is a terminal that may be given colours (https://no-color.org).
    var isColoured: Bool {
        isInTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// The words by which a person calls the tool.
    package var tool: ToolName { ToolName(environment) }

    /// Writes a line to standard output.
    package func print(_ line: String) {
        buffer.append(contentsOf: line.utf8)
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count > 64 * 1024 { flush() }
    }

    /// Writes a line to standard error.
    package func complain(_ line: String) {
        flush()
        sink(.errors, Array((line + "\n").utf8))
    }

    /// Writes what was collected.
    package func flush() {
        sink(.output, buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    /// `text` in a colour, on a terminal that has some.
    package func coloured(_ text: String, _ colour: Colour) -> String {
        isColoured ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// What terminals call "select graphic rendition" (ECMA-48 §8.3.117).
    package enum Colour: Int {
        case bold = 1
        case red = 31
        case green = 32
        case yellow = 33
    }

    /// All of standard input.
    ///
    /// - Throws: ``ToolError`` when there is none.
    package func readAll() throws(ToolError) -> Data { try source().get() }

    /// Writes a file, or says why that is not possible.
    package func write(_ text: String, to path: String) throws {
        do {
            try Data(text.utf8).write(to: folder.url(path))
        } catch {
            throw ToolError(
                "\(quoted(path)) cannot be written; its folder must exist, and it must not be a folder itself"
            )
        }
    }
}

import Foundation
import LoopbackServer

/// Handles the signals that ask the tool to end, such as SIGINT for Control-C.
///
/// While an object of this type exists, a signal first undoes what the command has done, and then ends the tool. If the
/// command's changes are already complete, the signal is ignored. Without such an object, a signal ends the tool
/// immediately.
// The only mutable property is set once, in the initialiser.
final class EndingSignals: @unchecked Sendable {
    /// The lock that is held while a signal ends the tool.
    private static let ending = NSLock()
    private var sources: [any DispatchSourceSignal] = []

    /// - Parameter undo: Undoes what the command has done, and returns true. Returns false if the command's changes are
    ///   already complete.
    init(_ undo: @escaping @Sendable () -> Bool) {
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            EndingSignal.source(number) {
                Self.ending.lock()
                guard undo() else { return Self.ending.unlock() }
                FileHandle.standardError.write(Data("\nStopped; nothing was changed.\n".utf8))
                _exit(128 + number)
            }
        }
    }

    deinit {
        for source in sources {
            source.cancel()
            signal(Int32(source.handle), SIG_DFL)
        }
    }

    /// Blocks while a signal ends the tool; otherwise returns immediately.
    ///
    /// While a signal ends the tool, the command may fail because its files are removed. The tool must then exit with
    /// the status for the signal, and not with the status of the command.
    static func wait() { ending.withLock {} }
}

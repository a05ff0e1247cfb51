import Foundation
import LoopbackServer

/// Undoes what a command has begun if a signal, such as Control-C, asks the tool to end, and then ends it.
///
/// This applies as long as the object lives; before and after that, a signal ends the tool at once.
// Its state is set once.
final class EndingSignals: @unchecked Sendable {
    /// Held while a signal ends the tool.
    private static let ending = NSLock()
    private var sources: [any DispatchSourceSignal] = []

    /// - Parameter undo: Undoes what was begun, and returns false once the command has finished its work.
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

    /// Returns, unless a signal is ending the tool.
    ///
    /// In that case the command fails because its files are removed, but the exit status must be the signal's.
    static func wait() { ending.withLock {} }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The progress of a run, on one line of a terminal.
///
/// Each update overwrites the line. Without a terminal, nothing is printed.
// Mutable state is only accessed inside the lock.
final class ProgressLine: @unchecked Sendable {
    private let show: (@Sendable (String) -> Void)?
    private let total: Int
    private let start = DispatchTime.now()
    private let lock = NSLock()
    private var done = 0
    private var bytes = 0
    private var last = DispatchTime(uptimeNanoseconds: 0)

    /// - Parameters:
    ///   - total: The number of steps.
    ///   - show: Writes to a terminal; nil if there is no terminal.
    init(of total: Int, _ show: (@Sendable (String) -> Void)?) { (self.total, self.show) = (total, show) }

    /// Counts a finished step.
    func step() {
        lock.withLock {
            done += 1
            write(always: true)
        }
    }

    /// Sets the number of bytes received so far.
    func receive(_ bytes: Int) {
        lock.withLock {
            self.bytes = bytes
            write(always: false)
        }
    }

    /// Erases the line.
    func end() { lock.withLock { show?(Self.line("")) } }

    /// Returns what replaces the line of a terminal (ECMA-48: EL).
    static func line(_ text: String) -> String { "\r\(text)\u{1B}[K" }

    private func write(always: Bool) {
        let now = DispatchTime.now()
        // A user cannot read more than ten updates a second.
        guard let show, always || now.uptimeNanoseconds - last.uptimeNanoseconds > 100_000_000 else { return }
        last = now
        let seconds = max(Double(now.uptimeNanoseconds - start.uptimeNanoseconds) / 1e9, 0.1)
        show(Self.line("\(done) of \(total), \(ByteCount(bytes)), \(ByteCount(Int(Double(bytes) / seconds)))/s"))
    }
}

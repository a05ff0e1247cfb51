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
    private let lock = NSLock()
    private var done = 0
    private var bytes = 0
    private var last = DispatchTime(uptimeNanoseconds: 0)

    /// - Parameters:
    ///   - total: The number of steps.
    ///   - show: Writes to a terminal; nil if there is no terminal.
    init(of total: Int, _ show: (@Sendable (String) -> Void)?) { (self.total, self.show) = (total, show) }

    /// Counts a finished step.
    func step() { update(always: true) { $0.done += 1 } }

    /// Sets the number of bytes received so far.
    func receive(_ bytes: Int) { update(always: false) { $0.bytes = bytes } }

    /// Erases the line.
    func end() { lock.withLock { show?(Self.line("")) } }

    /// Returns what replaces the line of a terminal (ECMA-48: EL).
    static func line(_ text: String) -> String { "\r\(text)\u{1B}[K" }

    private func update(always: Bool, _ change: (ProgressLine) -> Void) {
        lock.withLock {
            change(self)
            let now = DispatchTime.now()
            // A user cannot read more than ten updates a second.
            guard let show, always || now > last + 0.1 else { return }
            last = now
            show(Self.line("\(done) of \(total), \(ByteCount(bytes))"))
        }
    }
}

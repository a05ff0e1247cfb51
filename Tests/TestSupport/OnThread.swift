import Foundation

/// Runs something that waits, such as for a process, on a thread of its own.
///
/// Tests share a few threads, and one that blocks such a thread holds up all others.
///
/// - Parameters:
///   - stackSize: In bytes; nil for the system's.
///   - body: What waits.
/// - Returns: What `body` returned.
/// - Throws: What `body` threw.
package func onThread<Result: Sendable>(
    stackSize: Int? = nil,
    _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        let work = Work(body)
        let thread = Thread { continuation.resume(with: work.result()) }
        if let stackSize { thread.stackSize = stackSize }
        thread.start()
    }
}

/// A closure that is let go, with all that it holds, before its result is told: the test may end with that.
// Only accessed by the one thread.
private final class Work<Result>: @unchecked Sendable {
    private var body: @Sendable () throws -> Result

    init(_ body: @escaping @Sendable () throws -> Result) { self.body = body }

    func result() -> Swift.Result<Result, any Error> {
        defer { body = { throw CancellationError() } }
        return Swift.Result(catching: body)
    }
}

import Foundation

/// Runs a blocking function, such as one that waits for a process, on its own thread.
///
/// Tests share a few threads. A test that blocks one of these threads delays all other tests.
///
/// - Parameters:
///   - stackSize: The thread's stack size in bytes; nil for the system's default.
///   - body: The function that blocks.
/// - Returns: The value that `body` returns.
/// - Throws: The error that `body` throws.
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

/// A closure that is released before its result is delivered.
///
/// The test may end as soon as the result is delivered. Nothing that the closure captures may outlive the test.
// Mutable state is only accessed on the thread that runs the closure.
private final class Work<Result>: @unchecked Sendable {
    private var body: @Sendable () throws -> Result

    init(_ body: @escaping @Sendable () throws -> Result) { self.body = body }

    func result() -> Swift.Result<Result, any Error> {
        defer { body = { throw CancellationError() } }
        return Swift.Result(catching: body)
    }
}

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
        let thread = Thread { continuation.resume(with: Swift.Result(catching: body)) }
        if let stackSize { thread.stackSize = stackSize }
        thread.start()
    }
}

package import Foundation

/// The seconds after which a wait fails; every machine is faster.
private let patience = 1200

/// Says what a test has waited for in vain.
private struct StillWaiting: Error { let what: String }

/// Waits until a condition is true.
///
/// - Throws: An error if the condition does not become true, and the error of the condition.
package func wait(
    for what: String,
    isolation: isolated (any Actor)? = #isolation,
    until condition: () async throws -> Bool
) async throws {
    let end = Date(timeIntervalSinceNow: Double(patience))
    while try await !condition() {
        if end < Date() { throw StillWaiting(what: what) }
        try await Task.sleep(nanoseconds: 20_000_000)
    }
}

extension FileHandle {
    /// Reads until the text contains `mark`, or to the end if `mark` is nil.
    ///
    /// - Throws: An error if nothing comes, or `EPIPE` if the end comes before `mark`.
    package func read(until mark: String?) throws -> String {
        var text = ""
        while mark.map({ !text.contains($0) }) ?? true {
            var waiting = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
            if poll(&waiting, 1, Int32(patience * 1000)) == 0 {
                throw StillWaiting(what: "\(mark ?? "the end") after: \(text)")
            }
            let data = availableData
            if data.isEmpty, mark == nil { break }
            if data.isEmpty { throw POSIXError(.EPIPE) }
            text += String(decoding: data, as: UTF8.self)
        }
        return text
    }
}

import Foundation

/// Asks the network for one request, and tells the client of a protocol what it answered, or what answers instead.
protocol NetworkLoad: AnyObject {
    /// Whether the client will be told nothing more.
    var hasFinished: Bool { get }
    /// Begins, or goes on after the task was suspended.
    func start()
    /// Pauses when the task is suspended, and otherwise ends it, without a word to the client.
    func stop()
}

import Foundation

/// The loader that the fake imitates, of Apple's two.
///
/// The newer one has a mode for each kind of delegate queue that an app may use.
package enum LoadingMode: String, CaseIterable, Codable, Sendable {
    /// `usesClassicLoadingMode` is true: protocols run on a thread with a run loop.
    case classic
    /// A serial queue, as URLSession makes it.
    case serial
    /// A queue that runs several operations at the same time.
    case concurrent
    case main

    private static let mode = Locked(LoadingMode.classic)

    package static var current: LoadingMode {
        get { mode.value }
        set { _ = mode.replace(with: newValue) }
    }

    func makeQueue() -> OperationQueue {
        if self == .main { return .main }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = self == .concurrent ? 8 : 1
        return queue
    }
}

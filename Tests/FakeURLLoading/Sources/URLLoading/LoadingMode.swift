import Foundation

/// Which of Apple's two loaders the fake imitates, and for the newer one the kind of the app's delegate queue.
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

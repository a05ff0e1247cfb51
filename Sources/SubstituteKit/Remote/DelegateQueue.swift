// On Apple's systems, URL loading does not decompress a whole body at once.
#if canImport(FoundationNetworking)
import Foundation

/// The serial queue on which a session calls its delegate.
///
/// A server may send a small body that is a thousand times larger once it is decompressed. Foundation on Linux
/// decompresses it at once, and queues a call of the delegate for each piece. This queue lets Foundation wait while
/// many calls are queued, so that the pieces do not fill the memory.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
    private let places = DispatchSemaphore(value: 256)

    override init() {
        super.init()
        maxConcurrentOperationCount = 1
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        // The wait is limited, because a call of the delegate may itself wait for Foundation.
        let places = places
        let hasPlace = places.wait(timeout: .now() + 1) == .success
        super.addOperation {
            block()
            if hasPlace { places.signal() }
        }
    }
}
#endif

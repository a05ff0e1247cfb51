package import Dispatch
import Foundation

/// The signals that ask a program to end, such as that of Control-C, for one that has something to remove before.
package enum EndingSignal {
    /// Calls a handler at each signal from now on, instead of ending the process.
    ///
    /// - Parameters:
    ///   - number: The signal.
    ///   - handler: Called on a global queue.
    /// - Returns: The source, which the caller keeps.
    package static func source(
        _ number: Int32,
        _ handler: @escaping @Sendable () -> Void
    ) -> any DispatchSourceSignal {
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler(handler: handler)
        // Until then the signal ends the process.
        let isRegistered = DispatchSemaphore(value: 0)
        source.setRegistrationHandler { isRegistered.signal() }
        source.resume()
        isRegistered.wait()
        // On Apple's systems a source only watches; on Linux it has a handler, which this would replace.
        #if canImport(Darwin)
        signal(number, SIG_IGN)
        #endif
        return source
    }
}

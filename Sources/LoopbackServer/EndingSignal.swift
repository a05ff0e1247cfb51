package import Dispatch
import Foundation

/// Handles the signals that ask a program to end, such as Control-C, so that the program can clean up first.
package enum EndingSignal {
    /// Calls a handler whenever a signal arrives from now on, instead of letting the signal kill the process.
    ///
    /// - Parameters:
    ///   - number: The signal.
    ///   - handler: Called on a global queue.
    /// - Returns: The source, which the caller must keep.
    package static func source(
        _ number: Int32,
        _ handler: @escaping @Sendable () -> Void
    ) -> any DispatchSourceSignal {
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler(handler: handler)
        // Until the source is registered, the signal kills the process, so wait for the registration.
        let isRegistered = DispatchSemaphore(value: 0)
        source.setRegistrationHandler { isRegistered.signal() }
        source.resume()
        isRegistered.wait()
        // On Apple's systems, a source only observes the signal, so the process must also ignore the signal. On Linux,
        // the source has installed a signal handler, which this call would replace.
        #if canImport(Darwin)
        signal(number, SIG_IGN)
        #endif
        return source
    }
}

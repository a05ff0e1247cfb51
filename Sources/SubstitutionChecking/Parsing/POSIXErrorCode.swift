package import Foundation

extension POSIXErrorCode {
    /// Finds the `errno` behind an error of Foundation; nil if there is none.
    package init?(behind error: any Error) {
        let error = error as NSError
        // On Linux, the value is an error but no `NSError`, so a direct cast fails.
        let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError } ?? error
        guard cause.domain == NSPOSIXErrorDomain else { return nil }
        self.init(rawValue: Int32(cause.code))
    }

    /// The system's description.
    package var words: String { String(cString: strerror(rawValue)) }
}

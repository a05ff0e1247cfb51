package import Foundation

/// Short forms of Foundation's functions for files.
package enum FileSystem {
    /// Returns the type of the file or folder at a path, without following a link; nil if there is none.
    package static func kind(of path: String) -> FileAttributeType? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
    }

    /// Returns the system's description of an error.
    package static func reason(_ error: any Error) -> String {
        let error = error as NSError
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        return underlying.domain == NSPOSIXErrorDomain
            ? String(cString: strerror(Int32(underlying.code))) : error.localizedDescription
    }
}

package import Foundation

/// What Foundation says of files, in fewer words.
package enum FileSystem {
    /// What lies at a path, a link as such; nil when nothing does.
    package static func kind(of path: String) -> FileAttributeType? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
    }

    /// What the system says of an error.
    package static func reason(_ error: any Error) -> String {
        let error = error as NSError
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        return underlying.domain == NSPOSIXErrorDomain
            ? String(cString: strerror(Int32(underlying.code))) : error.localizedDescription
    }
}

package import Foundation

/// What tells one file, and one version of it, from all others.
package struct FileIdentity: Equatable, Sendable {
    let device: Int
    let number: Int
    /// In bytes.
    let size: Int
    /// Nanoseconds since 1970; overflows after 2262, which does not matter to what only tells one version from
    /// another.
    let modified: Int

    package init(_ status: stat) {
        // The two systems name the field differently.
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        device = Int(truncatingIfNeeded: status.st_dev)
        number = Int(truncatingIfNeeded: status.st_ino)
        size = Int(status.st_size)
        modified = Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
    }
}

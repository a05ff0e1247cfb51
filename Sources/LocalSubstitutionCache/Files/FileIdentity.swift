package import Foundation

/// The device, inode, size and modification time, which distinguish one version of a file from all others.
package struct FileIdentity: Equatable, Sendable {
    let device: Int
    let number: Int
    /// The size in bytes.
    let size: Int
    /// The modification time in nanoseconds since 1970.
    ///
    /// The number overflows after 2262. The overflow does not matter, because the number only has to differ between two
    /// versions of a file.
    let modified: Int

    package init(_ status: stat) {
        // Apple platforms and Linux name the field differently.
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

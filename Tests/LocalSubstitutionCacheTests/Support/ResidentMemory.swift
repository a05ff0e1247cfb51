import Foundation
import Testing

/// The memory of this process that is in use, in bytes.
///
/// Only a process of its own measures what a test takes: others run at the same time.
func residentMemory() throws -> Int {
    // Only Linux says it in a file; elsewhere nothing is claimed.
    #if os(Linux)
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return try #require(pages.count > 1 ? Int(pages[1]) : nil) * Int(sysconf(Int32(_SC_PAGESIZE)))
    #else
    return 0
    #endif
}

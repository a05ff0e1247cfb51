import Foundation
import Testing

/// Returns the resident memory of this process, in bytes.
///
/// Other tests run at the same time, so a test can measure its own memory only in a separate process.
func residentMemory() throws -> Int {
    // Only Linux reports the resident memory in a file. Elsewhere the result is 0, and nothing is tested.
    #if os(Linux)
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return try #require(pages.count > 1 ? Int(pages[1]) : nil) * Int(sysconf(Int32(_SC_PAGESIZE)))
    #else
    return 0
    #endif
}

import Foundation
import LocalSubstitutionCache

// snippet.record
#if DEBUG
import LocalSubstitutionDevelopment

/// Records the app's requests in a file next to this source file.
func record(with cache: SubstitutionCache) throws -> Recording {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    return try cache.record(to: folder.appendingPathComponent("app.har"))
}
#endif
// snippet.end

#if DEBUG
// snippet.screen
/// The text of a debug screen.
func text(of recording: Recording) -> String {
    let summary = recording.summary
    return "\(summary.fileResponseCount) of \(summary.requestCount) requests were answered by the app.\n\n\(summary)"
}
// snippet.end

// snippet.stop
/// Writes the last requests and ends the recording; for example, call it when a test or a command ends.
func end(_ recording: Recording) throws {
    try recording.stop()
}
// snippet.end
#endif

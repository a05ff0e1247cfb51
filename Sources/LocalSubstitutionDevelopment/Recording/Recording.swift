public import Foundation
public import LocalSubstitutionCache

/// A recording of what a running app asks for, which goes on until ``stop()``.
///
/// See ``LocalSubstitutionCache/LocalSubstitutionCache/record(to:options:)``.
public final class Recording: Sendable {
    /// How much is recorded.
    public struct Options: Sendable {
        /// The largest body that is recorded, in bytes.
        public var largestBody = 2_000_000
        /// The size of the file, in bytes, at which further requests are only counted.
        ///
        /// Bodies take three quarters of it at most.
        public var limit = 20_000_000

        /// The defaults.
        public init() {}
    }

    /// The file that is written.
    public let file: URL
    private let log: RecordingLog
    // URLCache is safe to share, which Foundation on Linux does not declare.
    private nonisolated(unsafe) weak var cache: LocalSubstitutionCache?

    init(of cache: LocalSubstitutionCache, to file: URL, _ options: Options) throws {
        (self.file, self.cache) = (file, cache)
        log = RecordingLog(cache, try RecordingFile(file), options)
        try log.save()
        cache.observer = log
    }

    /// What was asked for so far.
    ///
    /// Cost: a few microseconds for each request since the file was last written.
    public var summary: RecordingSummary { log.summary }

    /// Writes what is new now, instead of within a second.
    ///
    /// - Throws: An error whose description says why the file cannot be written; what was there stays.
    public func save() throws { try log.save() }

    /// Ends the recording, and writes what is new.
    ///
    /// - Throws: As ``save()``.
    public func stop() throws {
        if let cache, cache.observer === log { cache.observer = nil }
        try log.save()
    }
}

extension LocalSubstitutionCache {
    /// Records what the app asks for as a HAR file, for the time in which an app is made.
    ///
    /// ```swift
    /// #if DEBUG
    /// let recording = try cache.record(to: folderInTheProject.appendingPathComponent("app.har"))
    /// #endif
    /// ```
    ///
    /// `substitute list --used app.har` says which files the app has used, `substitute explain app.har` what it loaded
    /// from the network and which entry would change that. `substitute import`, and the developer tools of browsers,
    /// read the file, too. <doc:RecordingAnApp> says what is in it, and what cannot be seen.
    ///
    /// The file is written beside its name and renamed, at most once a second, so that a reader finds a whole version
    /// at any moment; an app that is killed loses what it asked for in the last two seconds. It is readable by its
    /// owner alone, and left out of backups on Apple's systems. One that is there is replaced. Values of header fields
    /// that may hold secrets, user information, and parameters of a query that look like tokens are left out; bodies of
    /// answers that may be for one person, too.
    ///
    /// A recording goes on as long as the cache lives, or until `Recording.stop()` or the next one. Cost: for each
    /// request about a fifth of what a file takes to answer a task; for each version of the file, its size.
    ///
    /// - Parameters:
    ///   - file: The file, below a folder that exists.
    ///   - options: How much is recorded.
    /// - Returns: The recording. It need not be kept.
    /// - Throws: An error whose description says why the file cannot be written.
    @discardableResult
    public func record(to file: URL, options: Recording.Options = Recording.Options()) throws -> Recording {
        try Recording(of: self, to: file, options)
    }
}

public import Foundation
public import LocalSubstitutionCache

/// A recording of the requests of a running app, which continues until ``stop()`` is called.
///
/// See ``LocalSubstitutionCache/LocalSubstitutionCache/record(to:options:)``.
public final class Recording: Sendable {
    /// The limits of a recording.
    public struct Options: Sendable {
        /// The largest body that is recorded, in bytes.
        public var largestBody = 2_000_000
        /// The size of the file, in bytes, beyond which further requests are only counted.
        ///
        /// Bodies take at most three quarters of it.
        public var limit = 20_000_000

        /// Creates options with the default limits.
        public init() {}
    }

    /// The file that is written.
    public let file: URL
    private let log: RecordingLog
    // URLCache is thread-safe, but Foundation on Linux does not declare it Sendable.
    private nonisolated(unsafe) weak var cache: LocalSubstitutionCache?

    init(of cache: LocalSubstitutionCache, to file: URL, _ options: Options) throws {
        (self.file, self.cache) = (file, cache)
        log = RecordingLog(cache, try RecordingFile(file), options)
        try log.save()
        cache.observer = log
    }

    /// The summary of the requests so far.
    ///
    /// Cost: a few microseconds for each request since the file was last written.
    public var summary: RecordingSummary { log.summary }

    /// Writes new entries now, instead of within a second.
    ///
    /// - Throws: An error whose description says why the file cannot be written; the previous file stays.
    public func save() throws { try log.save() }

    /// Ends the recording, and writes new entries.
    ///
    /// - Throws: The same errors as ``save()``.
    public func stop() throws {
        if let cache, cache.observer === log { cache.observer = nil }
        try log.save()
    }
}

extension LocalSubstitutionCache {
    /// Records the app's requests in a HAR file; for development builds.
    ///
    /// ```swift
    /// #if DEBUG
    /// let recording = try cache.record(to: folderInTheProject.appendingPathComponent("app.har"))
    /// #endif
    /// ```
    ///
    /// `substitute list --used app.har` shows which files the app has used. `substitute explain app.har` shows what the
    /// app loaded from the network, and which entry would change that. `substitute import` and the developer tools of
    /// browsers read the file, too. <doc:RecordingAnApp> describes what is in the file, and what the library cannot
    /// see.
    ///
    /// The file is written under a temporary name and renamed, at most once a second, so that a reader finds a complete
    /// version at any moment. If the app is killed, the requests of the last two seconds are lost. Only its owner can
    /// read the file, and on Apple platforms it is excluded from backups. An existing file is replaced. The recording
    /// leaves out user info in URLs, query values that may be secrets, and the values of header fields that may hold
    /// secrets. It also leaves out bodies of responses that may be meant for a single user.
    ///
    /// A recording continues until the cache is deallocated, `Recording.stop()` is called, or the next recording
    /// starts. Cost: for each request, about a fifth of the time that a file takes to answer a task; for each version
    /// of the file, writing the whole file.
    ///
    /// - Parameters:
    ///   - file: The file, in a folder that exists.
    ///   - options: The limits of the recording.
    /// - Returns: The recording. The caller does not have to keep it.
    /// - Throws: An error whose description says why the file cannot be written.
    @discardableResult
    public func record(to file: URL, options: Recording.Options = Recording.Options()) throws -> Recording {
        try Recording(of: self, to: file, options)
    }
}

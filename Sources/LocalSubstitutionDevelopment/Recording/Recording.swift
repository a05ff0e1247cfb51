public import Foundation
public import LocalSubstitutionCache

/// A recording of a running app's requests.
///
/// ``LocalSubstitutionCache/SubstitutionCache/record(to:options:)`` starts a recording, and ``stop()`` ends it.
public final class Recording: Sendable {
    /// The contents and the limits of a recording.
    public struct Options: Sendable {
        /// The hosts whose URLs and bodies are recorded; each in ASCII, without a port.
        public var hosts: Set<String>
        /// The maximum length of a recorded body, in bytes.
        public var maximumBodySize = 2_000_000
        /// The size of the file, in bytes, beyond which further requests are only counted.
        ///
        /// Beyond three quarters of this size, requests are recorded without bodies.
        public var maximumFileSize = 20_000_000

        /// Creates options with the default limits.
        ///
        /// - Parameter hosts: The hosts whose URLs and bodies are recorded.
        public init(hosts: Set<String> = []) { self.hosts = hosts }
    }

    /// The file of the recording.
    package let file: URL
    private let log: RecordingLog
    // URLCache is thread-safe, but Foundation on Linux does not declare it Sendable.
    private nonisolated(unsafe) weak var cache: SubstitutionCache?

    init(of cache: SubstitutionCache, to file: URL, _ options: Options) throws {
        (self.file, self.cache) = (file, cache)
        log = RecordingLog(cache, try RecordingFile(file), options)
        try Self.beginning.withLock {
            // The file belongs to one recording: the last. So the others of the file and of the cache end.
            let path = log.file.path
            for other in RecordingsAtExit.logs where other.file.path == path || other === cache.observer {
                other.leaveFile()
                RecordingsAtExit.remove(other)
            }
            try log.save()
            cache.observer = log
            RecordingsAtExit.add(log)
        }
    }

    /// The lock that is held while a recording begins or ends.
    private static let beginning = NSLock()

    /// The summary of the requests so far.
    ///
    /// Cost: a few microseconds for each request since the file was last written.
    public var summary: RecordingSummary { log.summary }

    /// Writes all requests that have ended to the file now.
    ///
    /// Without this call, they are written within two seconds, and when the process exits.
    ///
    /// - Throws: An error whose description says why the file cannot be written; the previous file stays.
    public func save() throws { try log.save() }

    /// Ends the recording, and writes all requests to the file, also those in progress.
    ///
    /// - Throws: The same errors as ``save()``.
    public func stop() throws {
        try Self.beginning.withLock {
            if let cache, cache.observer === log { cache.observer = nil }
            guard RecordingsAtExit.logs.contains(where: { $0 === log }) else { return }
            try log.end()
            RecordingsAtExit.remove(log)
        }
    }
}

extension SubstitutionCache {
    /// Records the app's requests in a HAR file; for development builds.
    ///
    /// ```swift
    /// #if DEBUG
    /// let recording = try cache.record(to: folderInTheProject.appendingPathComponent("app.har"))
    /// #endif
    /// ```
    ///
    /// `substitute preview --format text --used app.har` shows which files the app has used. `substitute explain
    /// app.har` shows what the app loaded from the network, and the commands that add it. `substitute add` and the
    /// developer tools of browsers read the file, too. <doc:TestingYourApp> describes the contents of the file, and
    /// what the library cannot see.
    ///
    /// A request is written once, a second after it has ended. At most once a second, the file is written under a
    /// temporary name and renamed. So a reader finds a complete version at any moment. The last requests are written
    /// when the process exits, unless that gets no further for two seconds. If the process is killed, the requests of
    /// the last two seconds are lost, and more on a busy machine,
    /// unless `Recording.save()` or `Recording.stop()` was called. An existing file is replaced.
    ///
    /// Of a host that neither the manifest nor the options name, the file has one entry, with methods, statuses and
    /// counts, but no path. Of the manifest's hosts, it has the method, path, names of query parameters, status, type,
    /// size, time and source of each request, and the manifest's entry. Of the hosts in the options, it also has whole
    /// URLs, and the body of a response that could be given to anybody: see `OfflineArchive` for the rule. It holds no
    /// value of a request's header field, no user information of a URL, and no fragment. Only the file's owner can read
    /// it, and on Apple platforms the file is excluded from backups.
    ///
    /// A recording continues until `Recording.stop()` is called, the next recording of this cache or to this file
    /// starts, or the cache is deallocated. Cost: a few microseconds for each step of a load, and a few tenths of a
    /// millisecond for each URL that is new. For each version, the whole file is written.
    ///
    /// - Parameters:
    ///   - file: The file, in a folder that exists.
    ///   - options: The named hosts and the limits.
    /// - Returns: The recording. The caller does not have to keep it.
    /// - Throws: An error whose description says why the file cannot be written.
    @discardableResult
    public func record(to file: URL, options: Recording.Options = Recording.Options()) throws -> Recording {
        try Recording(of: self, to: file, options)
    }
}

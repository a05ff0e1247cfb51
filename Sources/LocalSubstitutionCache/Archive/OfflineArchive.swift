public import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

// `pending` and `counts` are only accessed inside the lock, `total` and `writes` only on the queue, which also writes
// all files. Any thread may read a file, because only complete files are renamed into place.

/// An archive that keeps the last good copy of each response, and replays it when there is no connection.
///
/// Online, caches work as usual. Offline, the app shows the last version of the page. To use an archive, install the
/// cache with it:
///
/// ```swift
/// let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
/// let archive = try OfflineArchive(
///     directory: caches.appendingPathComponent("Offline"),
///     capacity: 50_000_000,
///     hosts: ["example.com"]
/// )
/// cache.install(archive: archive)
/// ```
///
/// The response to every GET of a session that uses substitutions is kept if its status is 200. It is replayed,
/// whatever its age, after an error that means no connection (the same errors as for `"offline"` in a manifest). An
/// archive is not an HTTP cache but a history (RFC 9111 §6): while there is a connection, it answers nothing.
///
/// The archive never keeps:
/// - responses for URLs that the manifest names;
/// - responses that have `Cache-Control: no-store` or a malformed `Cache-Control` field, or whose request has one of
///   these;
/// - responses with a `Vary` other than `Accept-Encoding`;
/// - responses to requests with `Authorization`, `Proxy-Authorization` or cookies, including those of
///   `HTTPCookieStorage.shared`, unless the host is one of `hostsWithCredentials`. A token in any other field, such as
///   `X-API-Key`, is not recognised. The archive cannot see fields that a session adds by `httpAdditionalHeaders`. On
///   Apple platforms it cannot see cookies of any other storage either. If any of these identify a user of a host,
///   leave out that host, or check the request in `including`;
/// - `Set-Cookie` fields;
/// - bodies that are delivered to a task's own delegate, or to the delegate of a session that is not registered with
///   `registerForSubstitutions()`;
/// - downloads, on Linux.
///
/// ``refusals`` counts the responses that were not kept, by reason.
///
/// A copy stays until another response with status 200 replaces it. So if a page no longer exists, its copy stays. And
/// if the server redirects to a login page that answers with 200, the login page replaces the copy.
///
/// On Apple platforms (where it has not been tested) only `URLSession.shared` and registered sessions use the archive.
/// On watchOS, where URL loading consults no `URLProtocol` of an app, an archive keeps and answers nothing.
///
/// - Important: Call ``removeAll()`` when a user signs out. Copies are not encrypted, and a copy of a response to a
///   request with credentials is replayed for every request with its URL.
///
/// Together, bodies that are being received and bodies that wait to be written take at most 32 MB of memory. Only a
/// longer body that has a `Content-Length` takes more, and only while no other body is held. If the head of a response
/// shows that the archive will not keep it, its body takes no memory.
///
/// Each copy is a file. It holds a checksum and the whole URL. A copy is replayed only if the requested URL equals the
/// one in the file. A damaged file is removed and never replayed. The archive's own queue writes each file under a
/// temporary name and renames it, so that several processes can use one directory. Only the app's user can ever read
/// the files. If a copy cannot be written, for example on a full disk, only that copy is lost.
///
/// All methods may be called on any thread.
public final class OfflineArchive: @unchecked Sendable {
    /// One copy in the archive.
    public struct Copy: Hashable, Sendable {
        /// The requested URL, normalised according to RFC 3986 §6.2.
        public let url: URL
        /// The time at which the response was received.
        public let date: Date
        /// The size of its file, in bytes.
        public let byteCount: Int
    }

    /// The reason why a response was not kept.
    public enum Refusal: String, CaseIterable, Hashable, Sendable {
        /// The request had credentials or cookies, and its host is not one of `hostsWithCredentials`.
        case credentials
        /// The request or the response has `Cache-Control: no-store`, or a malformed `Cache-Control` field.
        case noStore
        /// The response has a `Vary` other than `Accept-Encoding`.
        case vary
        /// The status of the response is not 200.
        case status
        /// The body may be incomplete, or is too long.
        ///
        /// Its length differs from the announced length, it is longer than the archive's capacity, other bodies filled
        /// the memory that the archive may hold, or the body may lack a part because its task was suspended.
        case length
        /// The body did not pass through this library.
        ///
        /// It was delivered to a delegate: register the session with `registerForSubstitutions()`. Or it was written to
        /// a file, as a download.
        case unseen
    }

    private let folder: ArchiveFolder
    private let hosts: Set<String>?
    private let hostsWithCredentials: Set<String>
    private let isIncluded: @Sendable (URLRequest) -> Bool
    /// The memory for bodies that are being received and bodies that wait to be written.
    let memory: MemoryBudget
    private let removals = RemovalLog.shared
    /// The directory's name in the removal log: the same for every path to the directory.
    private let name: String
    private let queue = DispatchQueue(label: "LocalSubstitutionCache.OfflineArchive", qos: .utility)
    private let lock = NSLock()
    /// The copies that wait to be written, keyed by file; they can be replayed already.
    private var pending: [URL: (incoming: IncomingCopy, copy: ArchivedCopy)] = [:]
    private var counts: [Refusal: Int] = [:]
    /// The size of all copies in bytes, as known to this process; nil if they must be counted.
    private var total: Int?
    private var writes = 0

    /// Opens an archive, or creates it.
    ///
    /// - Parameters:
    ///   - directory: The folder for the copies, a file URL. It is created if it is missing, and excluded from backups.
    ///     Other files in it are left alone.
    ///   - capacity: The maximum size of all copies together, in bytes. Beyond it, the least recently used copies are
    ///     removed.
    ///   - hosts: The hosts whose responses are kept, in upper or lower case and without ports; nil for all.
    ///   - hostsWithCredentials: The hosts whose responses are kept even if the request has `Authorization`,
    ///     `Proxy-Authorization` or cookies.
    ///   - isIncluded: Returns true if the response to a request may be kept. It is called for each request that the
    ///     other rules allow, on any thread, and should be quick.
    /// - Throws: The error of Foundation if the directory cannot be created.
    public init(
        directory: URL,
        capacity: Int,
        hosts: Set<String>? = nil,
        hostsWithCredentials: Set<String> = [],
        including isIncluded: @escaping @Sendable (URLRequest) -> Bool = { _ in true }
    ) throws {
        folder = ArchiveFolder(url: directory, capacity: max(0, capacity))
        memory = MemoryBudget(shared: 32 * 1024 * 1024, single: max(0, capacity))
        self.hosts = hosts.map { Set($0.map { $0.lowercased() }) }
        self.hostsWithCredentials = Set(hostsWithCredentials.map { $0.lowercased() })
        self.isIncluded = isIncluded
        try folder.create()
        name = (try? FilePath(resolving: directory.path).text) ?? directory.standardizedFileURL.path
    }

    // MARK: - For the app

    /// The copies in the archive, in no particular order; waits for copies that are being written.
    ///
    /// Cost: reads every file.
    public var copies: [Copy] {
        queue.sync {
            folder.copyFiles().compactMap { file in
                guard let copy = folder.copy(in: file.url), let url = URL(string: copy.head.url) else { return nil }
                return Copy(url: url, date: copy.head.date, byteCount: file.size)
            }
        }
    }

    /// The number of responses that were not kept since this object was created, keyed by reason.
    ///
    /// It includes only requests that the archive is meant for: GET requests to its hosts for URLs that the manifest
    /// does not name. Requests that `including` refuses do not count. A load that fails counts only if its request was
    /// already a reason not to keep the response.
    public var refusals: [Refusal: Int] { lock.withLock { counts } }

    /// Removes the copy of one URL, if there is one.
    ///
    /// If a load has already begun in this process, the archive does not keep its response, whatever its URL. Copies
    /// that wait to be written are written first, so no other copy is lost.
    ///
    /// - Parameter url: Any spelling of the URL.
    public func remove(_ url: URL) {
        guard let file = (try? URLIdentity(url.absoluteString)).map(folder.file) else { return }
        queue.sync {
            removals.remove(from: name)
            lock.withLock { pending[file] = nil }
            _ = unlink(file.path)
            total = nil
        }
    }

    /// Removes every copy, including those that other processes are writing.
    ///
    /// The archive keeps no response to a load that has already begun in this process.
    ///
    /// Call this method when a user signs out. A load begins when its task is resumed. On Apple platforms it is not
    /// known how soon after `resume()` the load begins, so first cancel the tasks of that user. Other processes still
    /// keep the responses that they are loading.
    public func removeAll() {
        removals.remove(from: name)
        lock.withLock { pending = [:] }
        queue.sync {
            folder.removeAll()
            total = nil
        }
    }

    // MARK: - For loads

    /// Returns whether the response to `request` may be kept and replayed.
    func accepts(_ request: URLRequest) -> Bool {
        guard let host = host(of: request), refusal(of: request, host) == nil else { return false }
        return isIncluded(request)
    }

    /// Counts a request that was not accepted, if the archive is meant for it.
    func countRefusal(of request: URLRequest) {
        if let refusal = host(of: request).flatMap({ refusal(of: request, $0) }) { recordRefusal(refusal) }
    }

    func recordRefusal(_ refusal: Refusal) { lock.withLock { counts[refusal, default: 0] += 1 } }

    /// Returns the copy for `request`; nil if there is none.
    ///
    /// Cost: reads a file.
    func answer(to request: URLRequest) -> CachedURLResponse? {
        guard let identity = request.identity else { return nil }
        let file = folder.file(for: identity)
        let copy = lock.withLock { pending[file]?.copy } ?? folder.copy(in: file)
        guard let copy, copy.head.url == identity.description else { return nil }
        try? FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: file.path)
        return copy.response
    }

    /// Keeps a response; returns before it is written.
    func store(_ incoming: IncomingCopy, _ body: Data) {
        guard let identity = incoming.request.identity else { return }
        let response = incoming.response
        let fields = (response.allHeaderFields as? [String: String] ?? [:])
            .filter { !["set-cookie", "set-cookie2"].contains($0.key.lowercased()) }
        let responseURL = response.url?.absoluteString ?? identity.description
        let head = ArchivedCopy.Head(url: identity.description, responseURL: responseURL, fields: fields, date: Date())
        let copy = ArchivedCopy(head: head, body: body)
        let file = folder.file(for: identity)
        lock.withLock {
            guard removals.allows(name, since: incoming.moment) else { return }
            pending[file] = (incoming, copy)
            queue.async { [self] in write(copy, of: incoming, to: file) }
        }
    }

    /// Waits until all copies that are pending now have been written.
    func waitUntilWritten() { queue.sync {} }

    private func write(_ copy: ArchivedCopy, of incoming: IncomingCopy, to file: URL) {
        // The copy may have been removed, or replaced by a newer one.
        func isPending() -> Bool { pending[file]?.incoming === incoming }
        defer { lock.withLock { if isPending() { pending[file] = nil } } }
        guard lock.withLock(isPending), removals.allows(name, since: incoming.moment), let data = try? copy.encoded(),
            data.count <= folder.capacity
        else { return }
        let previous = (try? FileManager.default.attributesOfItem(atPath: file.path))?[.size] as? Int ?? 0
        folder.write(data, to: file)
        // Another archive of the same folder may have removed everything meanwhile.
        if !removals.allows(name, since: incoming.moment) { unlink(file.path) }
        total = total.map { $0 + data.count - previous }
        writes += 1
        // Other processes write to this folder, too, so the size is counted again from time to time.
        if writes % 64 == 1 || total.map({ $0 > folder.capacity }) ?? true { total = folder.trim() }
    }

    // MARK: - Rules

    /// Returns the host of a request that the archive is meant for; nil for other requests.
    private func host(of request: URLRequest) -> String? {
        guard request.fileMethod == .get, let host = request.url?.host?.lowercased(), hosts?.contains(host) ?? true,
            request.identity != nil
        else { return nil }
        return host
    }

    private func refusal(of request: URLRequest, _ host: String) -> Refusal? {
        if Self.forbidsStoring(request.value(forHTTPHeaderField: "Cache-Control")) { return .noStore }
        guard let url = request.url, !hostsWithCredentials.contains(host) else { return nil }
        let sendsCookies =
            request.httpShouldHandleCookies && HTTPCookieStorage.shared.cookies(for: url)?.isEmpty == false
        return request.isPersonal || sendsCookies ? .credentials : nil
    }

    /// Returns the reason why a response is not kept, judged by its head; nil if its head allows it.
    static func refusal(of response: HTTPURLResponse) -> Refusal? {
        if response.statusCode != 200 { return .status }
        if forbidsStoring(response.value(forHTTPHeaderField: "Cache-Control")) { return .noStore }
        let vary = response.value(forHTTPHeaderField: "Vary") ?? "Accept-Encoding"
        let names = vary.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        return names.allSatisfy { $0 == "accept-encoding" } ? nil : .vary
    }

    /// Returns whether a `Cache-Control` field forbids storing; to be safe, a malformed field does.
    private static func forbidsStoring(_ cacheControl: String?) -> Bool {
        guard let cacheControl else { return false }
        return CacheControl.directives(cacheControl)?.contains("no-store") ?? true
    }
}

extension URLRequest {
    fileprivate var identity: URLIdentity? { url.flatMap { try? URLIdentity($0.absoluteString) } }
}

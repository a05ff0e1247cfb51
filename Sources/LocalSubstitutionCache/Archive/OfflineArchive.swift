public import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

// `pending` and `counts` are only accessed inside the lock, `total` and `writes` only on the queue, which also writes
// all files. Any thread may read a file: it is renamed into place whole.

/// Keeps the last good copy of what the network answered, and replays it when there is no connection.
///
/// Online, caches work as always; offline, the last version of the page is shown. It is switched on when the cache is
/// installed:
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
/// Every GET of a session that uses substitutions is kept when it ends with a 200, and replayed, whatever its age,
/// after an error that means no connection (the same as for `"offline"` in a manifest). An archive is no HTTP cache but
/// a history (RFC 9111 §6): while there is a connection nothing comes from it.
///
/// Never kept are:
/// - URLs that the manifest names;
/// - answers with `Cache-Control: no-store`, or to requests with it, also where the field is malformed, and with a
///   `Vary` other than `Accept-Encoding`;
/// - answers to requests with `Authorization`, `Proxy-Authorization` or cookies, those of `HTTPCookieStorage.shared`
///   included, unless the host is one of `hostsWithCredentials`. A token in any other field, such as `X-API-Key`, is
///   not recognised; fields that a session adds by `httpAdditionalHeaders`, and on Apple's platforms cookies of another
///   storage, cannot be seen. Leave out hosts for which those identify a person, or look at the request in `including`;
/// - `Set-Cookie` fields;
/// - bodies that go to a delegate of a session that is not registered with `registerForSubstitutions()`, or
///   of the task's own, and downloads (on Linux).
///
/// ``refusals`` says how many answers were not kept, and why.
///
/// A copy stays until another 200 replaces it. A page that is gone leaves its copy; a redirect to a login page that
/// answers with 200 replaces it.
///
/// On Apple's platforms (where it has not been run) only `URLSession.shared` and registered sessions are asked for it.
/// On watchOS, which asks no protocol of an app, it keeps and answers nothing.
///
/// - Important: Call ``removeAll()`` when a person signs out. Copies are not encrypted, and one that was kept with
///   credentials is replayed to every request with the same URL.
///
/// Bodies on their way and bodies that wait for the disk take 32 MB of memory at most, or one body with a
/// `Content-Length` if that is longer; an answer whose head says that it will not be kept takes none.
///
/// A copy is a file that holds the whole URL, which must be equal when it is replayed, and a checksum; what is damaged
/// is removed and never replayed. Files are written aside and renamed, by a queue of the archive's own, so that several
/// processes can use one directory; nobody but the app's user can read them at any moment. Where a copy cannot be
/// written, such as on a full disk, only that copy is lost.
///
/// All methods may be called from any thread.
public final class OfflineArchive: @unchecked Sendable {
    /// One copy in the archive.
    public struct Copy: Hashable, Sendable {
        /// The URL that was asked for, normalised as RFC 3986 §6.2 says.
        public let url: URL
        /// When it was received.
        public let date: Date
        /// What its file takes, in bytes.
        public let byteCount: Int
    }

    /// Why an answer was not kept.
    public enum Refusal: String, CaseIterable, Hashable, Sendable {
        /// The request had credentials or cookies, and its host is not one of `hostsWithCredentials`.
        case credentials
        /// The request or the answer said `Cache-Control: no-store`, or something that is no list of directives.
        case noStore
        /// The answer varies with more than `Accept-Encoding`.
        case vary
        /// The answer was not a 200.
        case status
        /// The body is not as long as announced, is longer than the archive, came while other bodies filled the memory
        /// that the archive may hold, or may lack a part because its task was suspended.
        case length
        /// The body went to a delegate, past this library: call `registerForSubstitutions()` of the session. Or it went
        /// to a file, as a download.
        case unseen
    }

    private let folder: ArchiveFolder
    private let hosts: Set<String>?
    private let hostsWithCredentials: Set<String>
    private let isIncluded: @Sendable (URLRequest) -> Bool
    /// Shared by bodies on their way and bodies that wait for the disk.
    let memory: MemoryBudget
    private let removals = RemovalLog.shared
    /// The directory's name in the log: the same for every path that leads to it.
    private let name: String
    private let queue = DispatchQueue(label: "LocalSubstitutionCache.OfflineArchive", qos: .utility)
    private let lock = NSLock()
    /// Copies that are to be written, by file; replayed meanwhile.
    private var pending: [URL: (incoming: IncomingCopy, copy: ArchivedCopy)] = [:]
    private var counts: [Refusal: Int] = [:]
    /// What the copies take together, as far as this process knows; nil to have them counted.
    private var total: Int?
    private var writes = 0

    /// Opens an archive, or makes one.
    ///
    /// - Parameters:
    ///   - directory: Where the copies lie, a file URL; made when it is missing, and excluded from backups. Other files
    ///     in it are left alone.
    ///   - capacity: How many bytes the copies may take together; those that were used least recently make room.
    ///   - hosts: The hosts whose answers are kept, in any case and without ports; nil for all.
    ///   - hostsWithCredentials: The hosts for which answers to requests with `Authorization`, `Proxy-Authorization` or
    ///     cookies are kept, too.
    ///   - isIncluded: Decides about each request that the rest allows; called on any thread, and should be quick.
    /// - Throws: What Foundation throws when the directory cannot be made.
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
        try folder.make()
        name = (try? FilePath(resolving: directory.path).text) ?? directory.standardizedFileURL.path
    }

    // MARK: - For the app

    /// What is in the archive, in no particular order; waits for copies that are being written.
    ///
    /// Cost: reads every file.
    public var copies: [Copy] {
        queue.sync {
            folder.files().compactMap { file in
                guard let copy = folder.copy(in: file.url), let url = URL(string: copy.head.url) else { return nil }
                return Copy(url: url, date: copy.head.date, byteCount: file.size)
            }
        }
    }

    /// How many answers were not kept since this object was made, by reason.
    ///
    /// Only of requests that the archive is for: GET, of its hosts, and no URL that the manifest names. What
    /// `including` refuses does not count, and neither does a load that fails, unless its request was enough.
    public var refusals: [Refusal: Int] { lock.withLock { counts } }

    /// Removes the copy of one URL, if there is one, and keeps no answer of this process whose load has begun.
    ///
    /// What waits for the disk is written first, so no other copy is lost.
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

    /// Removes every copy, also what other processes are just writing, and keeps no answer of this process whose load
    /// has begun.
    ///
    /// To be called when a person signs out. A load has begun when its task was resumed; on Apple's platforms it is not
    /// known how soon after that, so cancel the tasks of that person first. Other processes still keep what they are
    /// loading.
    public func removeAll() {
        removals.remove(from: name)
        lock.withLock { pending = [:] }
        queue.sync {
            folder.removeAll()
            total = nil
        }
    }

    // MARK: - For loads

    /// Whether the answer to `request` may be kept and replayed.
    func accepts(_ request: URLRequest) -> Bool {
        guard let host = host(of: request), refusal(of: request, host) == nil else { return false }
        return isIncluded(request)
    }

    /// Counts a request that was not accepted, if the archive is for it.
    func countRefusal(of request: URLRequest) {
        if let refusal = host(of: request).flatMap({ refusal(of: request, $0) }) { count(refusal) }
    }

    func count(_ refusal: Refusal) { lock.withLock { counts[refusal, default: 0] += 1 } }

    /// What was kept for `request`; nil when there is nothing.
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

    /// Keeps an answer; returns at once.
    func keep(_ incoming: IncomingCopy, _ body: Data) {
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

    /// Returns when everything that was to be kept before has been written.
    func waitUntilWritten() { queue.sync {} }

    private func write(_ copy: ArchivedCopy, of incoming: IncomingCopy, to file: URL) {
        // It may have been removed, or a newer one have taken its place.
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
        // Other processes write here, too.
        if writes % 64 == 1 || total.map({ $0 > folder.capacity }) ?? true { total = folder.trim() }
    }

    // MARK: - Rules

    /// The host of a request that the archive is for; nil for others.
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

    /// Why an answer is not kept, as far as its head says.
    static func refusal(of response: HTTPURLResponse) -> Refusal? {
        if response.statusCode != 200 { return .status }
        if forbidsStoring(response.value(forHTTPHeaderField: "Cache-Control")) { return .noStore }
        let vary = response.value(forHTTPHeaderField: "Vary") ?? "Accept-Encoding"
        let names = vary.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        return names.allSatisfy { $0 == "accept-encoding" } ? nil : .vary
    }

    /// An archive errs on the safe side: what cannot be read may forbid storing.
    private static func forbidsStoring(_ cacheControl: String?) -> Bool {
        guard let cacheControl else { return false }
        return CacheControl.directives(cacheControl)?.contains("no-store") ?? true
    }
}

extension URLRequest {
    fileprivate var identity: URLIdentity? { url.flatMap { try? URLIdentity($0.absoluteString) } }
}

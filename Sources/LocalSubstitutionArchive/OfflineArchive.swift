public import Foundation
public import LocalSubstitutionCache
import SubstitutionStandards

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

// `pending` and `counts` are only accessed inside the lock, `total` and `writes` only on the queue. The queue also
// writes all files. Any thread may read a file, because only complete files are renamed into place.

/// An archive that keeps the last good response for each URL, and replays it when there is no connection.
///
/// Online, caches work as usual. Offline, the app shows the last version of a page. To use an archive, install the
/// cache together with the archive:
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
/// In a session that uses substitutions, each response to a GET request is kept if the response has the status 200. If
/// a later request for the same URL fails because there is no connection, the kept response is replayed, whatever its
/// age. The errors that mean no connection are the same as for `"offline"` in a manifest. An archive is not an HTTP
/// cache but a history (RFC 9111 §6): while there is a connection, it answers no request.
///
/// The archive never keeps:
/// - responses for URLs that the manifest names, except those of entries with `when` if `keepsNetworkFirst` is true;
/// - responses with `Cache-Control: no-store` or a malformed `Cache-Control` field, and responses to requests with one
///   of these fields;
/// - responses with a `Vary` other than `Accept-Encoding`;
/// - responses to requests with `Authorization`, cookies or another secret, and responses with a secret in a header
///   field other than `Set-Cookie`, unless the host is one of `hostsWithCredentials`. A secret is recognised by the
///   name of its header field or parameter, such as `X-API-Key` or `access_token`, or by its form. In a chain of
///   redirects, the first and the last request are searched. Cookies for the URL in `HTTPCookieStorage.shared` also
///   count. The archive cannot see fields that a session adds by `httpAdditionalHeaders`. On Apple platforms, it cannot
///   see the cookies of other storages. Such a field or cookie may identify a user of a host. In this case, leave the
///   host out of `hosts`, or check the request in `including`;
/// - `Set-Cookie` fields;
/// - on Linux, bodies that are delivered to a delegate, and responses of download tasks.
///
/// On Linux, if a server sends a field twice with different case, as in `Vary` and `vary`, Foundation keeps only one of
/// the two, at random. So the archive may not see the other.
///
/// If `keepsNetworkFirst` is true, such an entry has two sources: its file, and the copy of the last response from the
/// network. Without a connection, and after the seconds in `when`, the newer of the two answers. That is the file if it
/// was modified after the copy was received, or if the manifest's `$version` has risen since. After a status that
/// `when` lists, the file answers; without "offline" in `when`, no file answers offline, but a copy does. So choose
/// this if the files are earlier versions of the pages, and not if they say "you are offline".
///
/// ``refusals`` counts the responses that were not kept, by reason.
///
/// If the server answers with a status other than 200, the copy of the earlier response stays. So if a page no longer
/// exists, its copy stays. If the server redirects to a login page that answers with 200, the login page replaces the
/// copy.
///
/// On Apple platforms, where the archive has not been tested, only `URLSession.shared` and registered sessions use it.
/// On watchOS, where URL loading consults no `URLProtocol` of an app, an archive has no effect.
///
/// - Important: When a user signs out, empty the session's `URLCache`, and then call ``removeAll()``. The archive keeps
///   a response that URL loading takes from `URLCache` like one from the network. Copies are not encrypted. If a
///   request had credentials, the copy of its response is replayed for every request for the same URL, even for one
///   without credentials.
///
/// Bodies that are being received, and bodies that wait to be written, take at most 32 MB of memory together. A longer
/// body is kept if it has a `Content-Length` and no other body is in memory. If the archive refuses a response for its
/// status or header fields, the body takes no memory.
///
/// Each copy is a file. It holds a checksum and the whole URL. A copy is replayed only if the requested URL equals the
/// one in the file. A damaged file is removed and never replayed. The archive's own queue writes each file under a
/// temporary name and renames it, so that several processes can use one directory. Only the app's user can ever read
/// the files. If a copy cannot be written, for example on a full disk, only that copy is lost.
///
/// All methods may be called on any thread.
public final class OfflineArchive: ResponseArchive, @unchecked Sendable {
    /// One kept response.
    public struct Copy: Hashable, Sendable {
        /// The requested URL, normalised according to RFC 3986 §6.2.
        public let url: URL
        /// The time at which the response was received, from the network or from `URLCache`.
        public let date: Date
        /// The size of the copy's file, in bytes.
        public let byteCount: Int
    }

    /// The reason why a response was not kept.
    public enum Refusal: String, CaseIterable, Hashable, Sendable {
        /// The request had credentials, cookies or another secret, or the response had a secret in a header field; and
        /// the host is not one of `hostsWithCredentials`.
        case credentials
        /// The request or the response has `Cache-Control: no-store`, or a malformed `Cache-Control` field.
        case noStore
        /// The response has a `Vary` other than `Accept-Encoding`.
        case vary
        /// The status of the response is not 200.
        case status
        /// The body may be incomplete, or is too long.
        ///
        /// One of these causes applies:
        /// - The body's length differs from `Content-Length`.
        /// - The body with its header fields is longer than the archive's capacity.
        /// - Other bodies filled the memory that the archive may hold.
        /// - The task was suspended, so a part of the body may be missing.
        case length
        /// The body did not pass through this library.
        ///
        /// On Linux, it was delivered to a delegate, or a download task wrote it to a file.
        case unseen
    }

    private let folder: ArchiveFolder
    private let hosts: Set<String>?
    private let hostsWithCredentials: Set<String>
    package let keepsNetworkFirst: Bool
    private let isIncluded: @Sendable (URLRequest) -> Bool
    /// The memory for bodies that are being received and bodies that wait to be written.
    let memory: MemoryBudget
    private let removals = RemovalLog.shared
    /// The directory's key in the removal log; every path to the directory gives the same key.
    private let name: String
    private let queue: DispatchQueue
    /// The queue on which loads read copies.
    let readingQueue = DispatchQueue(label: "LocalSubstitutionCache.OfflineArchive.reading")
    private let lock = NSLock()
    /// The copies that wait to be written, keyed by their file; they are replayed from memory.
    private var pending: [URL: (incoming: IncomingCopy, copy: ArchivedCopy)] = [:]
    private var counts: [Refusal: Int] = [:]
    /// The size in bytes of all copies that this process knows; nil if the sizes must be added up again.
    private var total: Int?
    private var writes = 0

    /// Opens an archive, or creates it.
    ///
    /// - Parameters:
    ///   - directory: The folder for the copies, a file URL. It is created if it is missing, and excluded from backups.
    ///     Files in it that do not belong to the archive are left alone.
    ///   - capacity: The maximum size of all copies together, in bytes. If the copies exceed it, the least recently
    ///     used copies are removed; if several processes write at once, only after some more copies.
    ///   - hosts: The hosts whose responses are kept; nil for all hosts. Each host is in upper or lower case, has no
    ///     port and no brackets, and is in ASCII (`xn--bcher-kva.example`).
    ///   - hostsWithCredentials: The hosts whose responses are kept even if the request has credentials, cookies or
    ///     another secret.
    ///   - keepsNetworkFirst: True to keep the responses for URLs of entries with `when`, too.
    ///   - isIncluded: A function that returns true if the response to a request may be kept. It is called for each
    ///     request that the other rules allow. It is called on any thread, while URL loading waits, and must not start
    ///     a request or call this library.
    /// - Throws: An error of Foundation if the directory cannot be created.
    public init(
        directory: URL,
        capacity: Int,
        hosts: Set<String>? = nil,
        hostsWithCredentials: Set<String> = [],
        keepsNetworkFirst: Bool = false,
        including isIncluded: @escaping @Sendable (URLRequest) -> Bool = { _ in true }
    ) throws {
        folder = ArchiveFolder(url: directory, capacity: max(0, capacity))
        memory = MemoryBudget(shared: 32 * 1024 * 1024, single: max(0, capacity))
        self.hosts = hosts.map { Set($0.map { $0.lowercased() }) }
        self.hostsWithCredentials = Set(hostsWithCredentials.map { $0.lowercased() })
        self.keepsNetworkFirst = keepsNetworkFirst
        self.isIncluded = isIncluded
        try folder.create()
        name = (try? FilePath(resolving: directory.path).text) ?? directory.standardizedFileURL.path
        queue = removals.queue(for: name)
    }

    // MARK: - For the app

    /// The copies in the archive, in no particular order; none if the directory cannot be listed.
    ///
    /// Cost: waits for copies that are being written, and then reads every file.
    public var copies: [Copy] {
        queue.sync {
            let undone = finishRemovals().undone
            return ((try? folder.copyFiles()) ?? []).compactMap { file in
                guard undone.isDisjoint(with: [nil, file.url]), let copy = folder.copy(in: file.url),
                    let url = URL(string: copy.head.url)
                else { return nil }
                return Copy(url: url, date: copy.head.date, byteCount: file.size)
            }
        }
    }

    /// The number of responses that were not kept since this object was created, keyed by reason.
    ///
    /// Only GET requests to the archive's hosts count, and only for URLs whose responses it may keep. Requests that
    /// `including` refuses do not count. A failed load counts only if the archive had already refused its request, for
    /// example for its cookies.
    public var refusals: [Refusal: Int] { lock.withLock { counts } }

    /// Removes the copy of one URL, if there is one.
    ///
    /// If a load in this process has begun but not ended when this method is called, the load's response is not kept,
    /// whatever the load's URL. Copies that wait to be written are written before the removal, so the copies of other
    /// URLs are not lost.
    ///
    /// - Parameter url: Any spelling of the URL.
    /// - Returns: A failure under the same conditions as for ``removeAll()``.
    @discardableResult
    public func remove(_ url: URL) -> Result<Void, any Error> {
        guard let file = (try? URLIdentity(url.absoluteString)).map(folder.file) else { return .success(()) }
        return queue.sync {
            removals.remove(from: name)
            removals.postpone(file, in: name)
            lock.withLock { pending[file] = nil }
            return finishRemovals().result
        }
    }

    /// Removes every copy, including those that other processes are writing.
    ///
    /// If a load in this process has begun but not ended when this method is called, the load's response is not kept.
    /// Another process may still keep the response of a load that is in progress there.
    ///
    /// Call this method when a user signs out, but first cancel the tasks of that user and empty the session's
    /// `URLCache`. If a load begins after this call, the load's response may be kept. URL loading begins a load shortly
    /// after its task was resumed.
    ///
    /// A removal may fail, for example because the process has no file descriptor left. Then the copies that are still
    /// on disk are not replayed, and the archive tries again whenever it is used, even after a relaunch. Until it
    /// succeeds, no new copies are kept. If the directory is missing, nothing fails; if it comes back while the process
    /// runs, its copies are removed then.
    ///
    /// - Returns: A failure if this removal, or an earlier one, is not done. Its error says in a sentence why. To throw
    ///   the error, write `try archive.removeAll().get()`.
    @discardableResult
    public func removeAll() -> Result<Void, any Error> {
        removals.remove(from: name)
        removals.postpone(nil, in: name)
        lock.withLock { pending = [:] }
        return queue.sync { finishRemovals().result }
    }

    /// Does the removals that are not done; called on the queue.
    ///
    /// - Returns: The copies that are still to be removed, where nil means all copies, and the reason.
    @discardableResult
    private func finishRemovals() -> (undone: Set<URL?>, result: Result<Void, any Error>) {
        let moment = removals.last
        var (undone, result) = (self.undone, Result<Void, any Error>.success(()))
        // A folder that is missing may come back with its copies, such as one on a volume. They are removed then.
        guard !undone.isEmpty, folder.exists else { return (undone, result) }
        for file in undone {
            total = nil
            do {
                try folder.remove(file)
                removals.finish(file, in: name, upTo: moment)
                undone.remove(file)
            } catch {
                result = .failure(error)
            }
        }
        return (undone, result)
    }

    /// The copies that were removed, perhaps by another process, but may still be on disk; nil means all copies.
    private var undone: Set<URL?> { removals.undone(in: name).union(folder.isBeingEmptied ? [nil] : []) }

    // MARK: - For loads

    package func accepts(_ request: URLRequest) -> Bool {
        guard let host = host(of: request), refusal(of: request, host) == nil else { return false }
        return isIncluded(request)
    }

    package func countRefusal(of request: URLRequest) {
        if let refusal = host(of: request).flatMap({ refusal(of: request, $0) }) { recordRefusal(refusal) }
    }

    package func begin(_ request: URLRequest, version: Int64) -> any ArchivedLoad {
        IncomingCopy(of: request, since: removals.last, version: version, for: self)
    }

    func recordRefusal(_ refusal: Refusal) { lock.withLock { counts[refusal, default: 0] += 1 } }

    /// Returns the copy for `request`; nil if there is none.
    ///
    /// Cost: reads a file, unless the copy still waits to be written.
    func copy(for request: URLRequest) -> ArchivedCopy? {
        guard let identity = request.identity else { return nil }
        let file = folder.file(for: identity)
        // Another object of this directory may have removed what waits here.
        var copy = lock.withLock { pending[file].flatMap { allowsCopies(since: $0.incoming.moment) ? $0.copy : nil } }
        if copy == nil {
            guard undone.isDisjoint(with: [nil, file]) else {
                queue.async { [self] in finishRemovals() }
                return nil
            }
            copy = folder.copy(in: file)
        }
        guard let copy, copy.head.url == identity.description else { return nil }
        folder.markAsUsed(file)
        return copy
    }

    /// The moment of the last removal.
    var lastRemoval: Int { removals.last }

    /// Returns true if nothing has been removed since a moment.
    func allowsCopies(since moment: Int) -> Bool { removals.allows(name, since: moment) }

    /// Keeps a response, and returns before its file is written.
    func store(_ response: HTTPURLResponse, _ body: Data, of incoming: IncomingCopy) {
        guard let identity = incoming.request.identity else { return }
        let fields = (response.allHeaderFields as? [String: String] ?? [:])
            .filter { !["set-cookie", "set-cookie2"].contains($0.key.lowercased()) }
        // A fragment may hold a token, and belongs to the request.
        let responseURL = response.url?.absoluteString.prefix { $0 != "#" } ?? identity.description[...]
        let head = ArchivedCopy.Head(
            url: identity.description,
            responseURL: String(responseURL),
            fields: fields,
            date: Date(),
            version: incoming.version
        )
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
        // Since the call of `store`, this copy may have been removed, or replaced by a newer copy.
        func isPending() -> Bool { pending[file]?.incoming === incoming }
        defer { lock.withLock { if isPending() { pending[file] = nil } } }
        if !undone.isEmpty, !folder.exists { try? folder.create() }
        guard lock.withLock(isPending), let data = try? copy.encoded() else { return }
        guard data.count <= folder.capacity else { return recordRefusal(.length) }
        guard finishRemovals().undone.isDisjoint(with: [nil, file]),
            // Asked last: a removal that begins later is done after this function, because it is still to be done then.
            removals.allows(name, since: incoming.moment)
        else { return }
        let previous = (try? FileManager.default.attributesOfItem(atPath: file.path))?[.size] as? Int ?? 0
        guard folder.write(data, to: file) else { return }
        total = total.map { max(0, $0 - previous) }
        total?.add(stated: data.count)
        writes += 1
        // Other processes write to this folder, too, so the sizes are added up again after every 64 copies.
        if writes % 64 == 1 || total.map({ $0 > folder.capacity }) ?? true { total = folder.trim(sparing: file) }
    }

    // MARK: - Rules

    /// Returns the host of a GET request to one of the archive's hosts; nil for any other request.
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

    /// Returns whether the archive keeps responses of the URL's host even if they may be for one user.
    func mayKeepCredentials(of url: URL?) -> Bool {
        url?.host.map { hostsWithCredentials.contains($0.lowercased()) } ?? false
    }

    /// Returns the reason why a response with this status and these header fields is not kept; nil if there is none.
    func refusal(of response: HTTPURLResponse, to request: URLRequest) -> Refusal? {
        if response.statusCode != 200 { return .status }
        if Self.forbidsStoring(response.value(forHTTPHeaderField: "Cache-Control")) { return .noStore }
        // A redirect may lead to another host.
        let mayKeep = [request.url, response.url].allSatisfy(mayKeepCredentials)
        if !mayKeep, response.isPersonal { return .credentials }
        let vary = response.value(forHTTPHeaderField: "Vary") ?? "Accept-Encoding"
        guard vary.isStreamSafe else { return .vary }
        let names = vary.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        return names.allSatisfy { $0 == "accept-encoding" } ? nil : .vary
    }

    /// Returns whether a `Cache-Control` field forbids storing the response.
    ///
    /// A malformed field might be meant to forbid storing, so such a field also counts as forbidding it.
    private static func forbidsStoring(_ cacheControl: String?) -> Bool {
        guard let cacheControl else { return false }
        return CacheControl.directives(cacheControl)?.contains("no-store") ?? true
    }
}

extension URLRequest {
    fileprivate var identity: URLIdentity? { url.flatMap { try? URLIdentity($0.absoluteString) } }
}

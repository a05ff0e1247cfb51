public import Foundation
public import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

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
/// The archive keeps a response of a named host if it could be given to anybody: if HTTP lets a shared cache keep it
/// (RFC 9111 §3), and nothing in the request could have named a user. That is so if
/// - the request is a GET, and the status is 200;
/// - the request has only fields that say nothing about its user: `Accept`, `Accept-Encoding`, `Accept-Language`,
///   `Cache-Control` without `no-store`, `Content-Language`, `Content-Type`, `DNT`, `Origin`, `Pragma`, `Range`,
///   `Referer`, `User-Agent`, `If-…`, `Sec-…`, and those that URL loading writes itself. The fields that the session
///   adds by `httpAdditionalHeaders` count, too;
/// - no cookie is sent, and the session's storage has none for the URL;
/// - no server asks for a credential;
/// - the response has neither `Set-Cookie`, nor a `Cache-Control` that is malformed or has `no-store` or `private`, nor
///   a `Vary` other than `Accept-Encoding` and `Origin`, because a copy is found by its URL alone;
/// - all this holds for each request and response of a chain of redirects, and each host in it is named.
///
/// ``refusalCounts`` counts the responses that were not kept, by the field that was the reason. For a site that sets
/// cookies, name its host in `hostsWithCredentials`, too, and call ``removeAll()`` when the user signs out.
///
/// If a later request for the same URL fails because there is no connection, the kept response is replayed, whatever
/// its age. The errors that mean no connection are the same as for `"offline"` in a manifest. An archive is not an HTTP
/// cache but a history (RFC 9111 §6): while there is a connection, it answers no request.
///
/// Only `URLSession.shared`, registered sessions (see `URLSession(substituting:delegate:delegateQueue:)`) and mirrors
/// in web views use the archive. It has not been run on Apple's platforms. On watchOS, where URL loading consults no
/// `URLProtocol` of an app, it has no effect. On Linux, it keeps no bodies that are delivered to a delegate, no
/// downloads and no redirected loads, because their responses do not pass through this library.
///
/// Responses for URLs that the manifest names are not kept, except those of entries with `when` if `keepsNetworkFirst`
/// is true. Such an entry then has two sources: its file, and the copy of the last response from the network. Without a
/// connection, and after the seconds in `when`, the newer of the two answers. That is the file if it was modified after
/// the copy was received, or if the manifest's `$version` has risen since. After a status that `when` lists, the file
/// answers; without "offline" in `when`, no file answers offline, but a copy does. So choose this if the files are
/// earlier versions of the pages, and not if they say "you are offline".
///
/// If the server answers with a status other than 200, the copy of the earlier response stays. So if a page no longer
/// exists, its copy stays. If the server redirects to a login page that answers with 200, the login page replaces the
/// copy.
///
/// - Important: When a user signs out, empty the session's `URLCache`, and then call ``removeAll()``. The archive keeps
///   a response that URL loading takes from `URLCache` like one from the network. Copies are not encrypted. A copy is
///   replayed for every request for its URL that the archive would keep.
///
/// Bodies that are being received, and bodies that wait to be written, take at most 32 MB of memory together; one for
/// which no room is left is not kept. If the archive refuses a response for its status or header fields, the body takes
/// no memory.
///
/// Each copy is a file. It holds a checksum and the whole URL. A copy is replayed only if the requested URL equals the
/// one in the file. A damaged file is removed and never replayed. Each file is written under a temporary name and
/// renamed, so that several processes can use one directory. Only the app's user can ever read the files. If a copy
/// cannot be written, for example on a full disk, only that copy is lost.
///
/// All methods may be called on any thread.
public final class OfflineArchive: ResponseArchive, Sendable {
    /// One kept response.
    package struct Copy: Hashable, Sendable {
        /// The requested URL, normalised according to RFC 3986 §6.2.
        package let url: URL
        /// The time at which the response was received, from the network or from `URLCache`.
        package let date: Date
        /// The size of the copy's file, in bytes.
        package let byteCount: Int
    }

    /// The reason why a response was not kept.
    public enum Refusal: Hashable, Sendable {
        /// The request, or one after a redirect, has this field, which may name a user.
        ///
        /// `Cookie` also means a cookie in the session's storage, and `Cache-Control` means `no-store`.
        case requestField(String)
        /// The response, or a redirect to it, has this field with a value that forbids keeping it.
        case responseField(String)
        /// A server has asked for a credential.
        case challenge
        /// The status of the response is not 200.
        case status
        /// A redirect leads to a host that is not named, or with a method other than GET.
        case redirect
        /// The body may be incomplete, or is too long.
        ///
        /// One of these causes applies:
        /// - The body's length differs from `Content-Length`.
        /// - The body with its header fields is longer than the archive's capacity.
        /// - With the other bodies in memory, it is longer than 32 MB.
        /// - The task was suspended, so a part of the body may be missing.
        case length
        /// The response did not pass through this library, which happens only on Linux.
        ///
        /// It was delivered to a delegate, a download task wrote it to a file, or the load was redirected.
        case unseen
    }

    let folder: ArchiveFolder
    let directory: ArchiveDirectory
    private let hosts: Set<String>
    private let hostsWithCredentials: Set<String>
    package let keepsNetworkFirst: Bool
    private let isIncluded: @Sendable (URLRequest) -> Bool
    /// The number of bytes that may be written before the folder is listed.
    private let room = Locked(0)
    private let counts = Locked<[Refusal: Int]>([:])
    /// The number of bytes of bodies that are being received, or wait to be written; internal for tests.
    let held = Locked(0)

    /// Opens an archive, or creates it.
    ///
    /// - Parameters:
    ///   - directory: The folder for the copies, a file URL. It is created if it is missing, and excluded from backups.
    ///     Files in it that do not belong to the archive are left alone.
    ///   - capacity: The maximum size of all copies together, in bytes. Before they exceed it, the least recently used
    ///     ones are removed, so that a tenth is free; if several processes write at once, only after some more copies.
    ///   - hosts: The hosts whose responses are kept. Each host is in upper or lower case, has no port and no brackets,
    ///     and is in ASCII (`xn--bcher-kva.example`).
    ///   - hostsWithCredentials: The hosts whose responses are kept as the user's own cache would keep them: whatever
    ///     the fields of the request are, also with cookies, credentials, `Set-Cookie` and `private`, but not with
    ///     `no-store`. They need not be in `hosts`.
    ///   - keepsNetworkFirst: True to keep the responses for URLs of entries with `when`, too.
    ///   - isIncluded: A function that returns true if the response to a request may be kept. It is called for each
    ///     request that the other rules allow. It is called on any thread, while URL loading waits, and must not start
    ///     a request or call this library.
    /// - Throws: An error of Foundation if the directory cannot be created.
    public init(
        directory: URL,
        capacity: Int,
        hosts: Set<String>,
        hostsWithCredentials: Set<String> = [],
        keepsNetworkFirst: Bool = false,
        including isIncluded: @escaping @Sendable (URLRequest) -> Bool = { _ in true }
    ) throws {
        folder = ArchiveFolder(url: directory, capacity: max(0, capacity))
        self.hosts = Set(hosts.union(hostsWithCredentials).map { $0.lowercased() })
        self.hostsWithCredentials = Set(hostsWithCredentials.map { $0.lowercased() })
        self.keepsNetworkFirst = keepsNetworkFirst
        self.isIncluded = isIncluded
        try folder.create()
        self.directory = .at((try? FilePath(resolving: directory.path).text) ?? directory.standardizedFileURL.path)
    }

    // MARK: - For the app

    /// The copies in the archive, in no particular order; none if the directory cannot be listed.
    ///
    /// Cost: waits for copies that are being written, and then reads every file.
    package var copies: [Copy] {
        directory.queue.sync {
            ((try? folder.files()) ?? []).compactMap { file in
                guard let copy = folder.copy(in: file.url), let url = URL(string: copy.url) else { return nil }
                return Copy(url: url, date: copy.date, byteCount: file.size)
            }
        }
    }

    /// The number of responses that were not kept since this object was created, keyed by reason.
    ///
    /// Only GET requests to the archive's hosts count, and only for URLs whose responses it may keep. Requests that
    /// `including` refuses do not count. A failed load counts only if the archive had already refused its request, for
    /// example for its cookies.
    public var refusalCounts: [Refusal: Int] { counts.value }

    /// Removes the copy of one URL, if there is one.
    ///
    /// The response of a load in this process that has begun but not ended is not kept, whatever the load's URL.
    ///
    /// - Parameter url: Any spelling of the URL.
    /// - Throws: The same error as ``removeAll()``.
    public func remove(_ url: URL) throws {
        guard let identity = try? URLIdentity(url.absoluteString) else { return }
        try directory.remove(isAll: false) { try folder.remove(folder.file(for: identity)) }
    }

    /// Removes all copies, for example when a user signs out.
    ///
    /// The responses of loads in this process that have begun but not ended are not kept. A load that begins after the
    /// call is kept again.
    ///
    /// Another process that uses the directory may keep a response of a load that it has begun.
    ///
    /// Cost: waits for copies that are being written, and deletes each file.
    ///
    /// - Throws: An error whose description says what cannot be deleted, and why. Then no archive of the directory
    ///   replays or keeps anything in this process until this method succeeds. What is left is replayed by the next
    ///   process, so call this method again.
    public func removeAll() throws { try directory.remove(isAll: true) { try folder.remove(nil) } }

    // MARK: - For loads

    package func accepts(_ request: URLRequest) -> Bool {
        mayCount(request) && refusal(of: request) == nil && isIncluded(request)
    }

    package func countRefusal(of request: URLRequest) {
        if mayCount(request), let refusal = refusal(of: request) { recordRefusal(refusal) }
    }

    private func refusal(of request: URLRequest) -> Refusal? {
        IncomingCopy(of: request, version: 0, for: self).refusal
    }

    package func begin(_ request: URLRequest, version: Int64) -> any ArchivedLoad {
        IncomingCopy(of: request, version: version, for: self)
    }

    /// Returns whether the app has named the host of a URL.
    func isNamed(_ url: URL?) -> Bool { url?.host.map { hosts.contains($0.lowercased()) } ?? false }

    /// Returns whether responses of a URL's host are kept as the user's own cache keeps them.
    func keepsAsUser(_ url: URL?) -> Bool { url?.host.map { hostsWithCredentials.contains($0.lowercased()) } ?? false }

    private func mayCount(_ request: URLRequest) -> Bool {
        request.fileMethod == .get && isNamed(request.url) && request.identity != nil
    }

    func recordRefusal(_ refusal: Refusal) { counts.withLock { $0[refusal, default: 0] += 1 } }

    /// Returns the copy for a request; nil if there is none.
    ///
    /// Called on the queue. Cost: reads a file.
    func copy(for request: URLRequest) -> ArchivedCopy? {
        guard directory.allowsCopies(since: directory.moment), let identity = request.identity else { return nil }
        let file = folder.file(for: identity)
        guard let copy = folder.copy(in: file), copy.url == identity.description else { return nil }
        folder.setUse(of: file, Date())
        return copy
    }

    /// Keeps a response, and returns before its file is written.
    func store(_ response: HTTPURLResponse, _ body: Data, of incoming: IncomingCopy) {
        guard let identity = incoming.request.identity else { return }
        let fields = (response.allHeaderFields as? [String: String] ?? [:])
            .filter { !["set-cookie", "set-cookie2"].contains($0.key.lowercased()) }
        // A fragment may hold a token, and belongs to the request.
        let (url, version) = (identity.description, incoming.version)
        let responseURL = String(response.url?.absoluteString.prefix { $0 != "#" } ?? url[...])
        let copy = ArchivedCopy(url: url, responseURL: responseURL, fields: fields, version: version, body: body)
        // The closure holds the load, whose bytes count until they are written.
        directory.queue.async { [self] in write(copy, of: incoming, to: folder.file(for: identity)) }
    }

    private func write(_ copy: ArchivedCopy, of incoming: IncomingCopy, to file: URL) {
        guard directory.allowsCopies(since: incoming.moment), let data = try? copy.encoded() else { return }
        guard data.count <= folder.capacity else { return recordRefusal(.length) }
        guard folder.write(data, to: file) else { return }
        // Only the queue changes this number.
        let left = room.value - data.count
        _ = room.replace(with: left < 0 ? folder.makeRoom(sparing: file) : left)
    }

    // MARK: - Memory

    /// The maximum length of the bodies that are in memory together, in bytes.
    private static let memory = 32 << 20

    /// Reserves memory for a part of a body; returns false if not enough is left.
    func reserve(_ count: Int) -> Bool {
        held.withLock { held in
            guard count <= Self.memory - held else { return false }
            held += count
            return true
        }
    }

    func release(_ count: Int) { held.withLock { $0 -= count } }
}

extension URLRequest {
    fileprivate var identity: URLIdentity? { url.flatMap { try? URLIdentity($0.absoluteString) } }
}

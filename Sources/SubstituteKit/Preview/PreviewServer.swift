import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import LoopbackServer
import SubstituteCheckKit
import SubstitutionChecking

/// Serves the preview page on this machine and updates it in the browser after each save.
///
/// The server serves only the page and the files on the page, and only answers requests to the server's own host name.
/// A website may point its own host name at this machine (DNS rebinding), but requests to that name are refused.
// Mutable state is only accessed inside the condition's lock.
final class PreviewServer: @unchecked Sendable {
    private let manifest: ManifestFile
    private let tool: ToolName
    private let now: @Sendable () -> Date
    private let condition = NSCondition()
    private var version = 1
    private var check: ManifestCheck
    /// Sentences about the servers' versions of files, keyed by path.
    ///
    /// Each sentence applies to one version of the local file, and is shown until the file changes.
    private var marks: [String: (words: String, version: String)] = [:]
    /// The substitutions on the page, keyed by the path at which the server offers the file.
    ///
    /// The server serves only these files and the page.
    private var rows: [String: Substitution] = [:]
    private var page = Data()
    private var server: LoopbackServer?
    private var watcher: FolderWatcher?
    /// The app's recording; nil if the user named no recording.
    private let recording: URL?
    private var use: RecordedUse?

    /// The prefix of the path under which files are served.
    private static let prefix = "/files/"

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - manifest: The manifest to show.
    ///   - tool: The words with which the user calls the tool.
    ///   - recording: The file in which an app records its requests; nil for no recording. The file may not exist yet.
    ///   - now: Returns the current time.
    /// - Throws: ``ToolError`` if the manifest cannot be read or the server cannot start.
    init(
        _ manifest: ManifestFile,
        _ tool: ToolName,
        recording: URL? = nil,
        _ now: @escaping @Sendable () -> Date
    ) throws {
        (self.manifest, self.tool, self.recording, self.now) = (manifest, tool, recording, now)
        check = ManifestCheck(manifest, on: now())
        if let issue = check.issues.first, issue.code == .unreadableManifest { throw ToolError(issue.message) }
        rebuildPage()
        server = try LoopbackServer(maximumBody: 0, remembersRequests: false) { [weak self] request in
            self?.answer(request) ?? .text("", status: 503)
        }
        do {
            watcher = try manifest.watch { [weak self] _ in self?.changed() }
        } catch {
            server?.stop()
            throw error
        }
        // A file may have been saved between the first check and the start of the watcher.
        changed()
    }

    /// The address to open.
    var url: URL? { server?.url.appendingPathComponent("/") }

    /// A summary of the manifest at the last check.
    var summary: String { condition.withLock { PreviewSummary(check).description } }

    /// The check that the page shows.
    var current: ManifestCheck { condition.withLock { check } }

    /// Shows a sentence about the server's version on the card of each marked file; `marks` is keyed by path.
    func mark(_ marks: [String: String]) {
        condition.withLock {
            let versions = Dictionary(check.substitutions.map { ($0.path, Self.version(of: $0)) }) { first, _ in first }
            self.marks = marks.reduce(into: [:]) { $0[$1.key] = ($1.value, versions[$1.key] ?? "") }
        }
        changed()
    }

    private func changed() {
        let check = ManifestCheck(manifest, on: now())
        let use = recordedUse(of: check)
        condition.withLock {
            self.check = check
            self.use = use
            version += 1
            rebuildPage()
            condition.broadcast()
        }
    }

    /// Returns the app's use of the manifest; nil if there is no readable recording, or if the manifest has errors.
    private func recordedUse(of check: ManifestCheck) -> RecordedUse? {
        guard let recording, check.errors.isEmpty, let data = try? Data(contentsOf: recording),
            let file = try? HARFile(data, name: recording.lastPathComponent), !file.exchanges.isEmpty,
            let table = try? manifest.table()
        else { return nil }
        return RecordedUse(file, of: check.substitutions, in: table)
    }

    /// Follows the recording and updates the page as the app records; returns only when cancelled.
    func followRecording() async throws {
        guard let recording else { return try await Task.sleep(nanoseconds: .max) }
        // The recording is polled, because it may lie outside the watched folder. The app replaces the recording at
        // most once a second.
        func version() -> Date? {
            (try? FileManager.default.attributesOfItem(atPath: recording.path))?[.modificationDate] as? Date
        }
        var known = version()
        while true {
            try await Task.sleep(nanoseconds: 500_000_000)
            let version = version()
            if version == known { continue }
            known = version
            changed()
        }
    }

    /// Builds the page and the table of files from the current state.
    private func rebuildPage() {
        var rows: [String: Substitution] = [:]
        let versions = Dictionary(check.substitutions.map { ($0.path, Self.version(of: $0)) }) { first, _ in first }
        let valid = marks.filter { $0.value.version == versions[$0.key] }.mapValues(\.words)
        let preview = PreviewPage(
            check: check,
            tool: tool,
            version: version,
            marks: valid,
            use: use,
            editable: manifest.url
        ) { substitution in
            let address = Self.prefix + substitution.path.percentEncoded
            rows[address] = substitution
            return "\(address)?\(versions[substitution.path] ?? "")"
        }
        // All members of the data can be encoded.
        page = (try? preview.page()).map { Data($0.html.utf8) } ?? page
        self.rows = rows
    }

    /// Returns the file's size and modification time; the browser caches the file until one of them changes.
    private static func version(of substitution: Substitution) -> String {
        let attributes = try? FileManager.default.attributesOfItem(atPath: substitution.realPath)
        let date = (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
        return "\(substitution.size)-\(UInt64(max(0, date) * 1e6))"
    }

    // MARK: - Responses

    private func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        guard let url, request.headers["host"] == "\(url.host ?? ""):\(url.port ?? 0)" else {
            return .text("This server answers to its own name only.\n", status: 421)
        }
        guard request.method == "GET" || request.method == "HEAD" else { return .text("GET or HEAD\n", status: 405) }
        switch request.path {
        case "/":
            return response("text/html; charset=utf-8", condition.withLock { page }, ["Cache-Control": "no-store"])
        case "/favicon.ico":
            return LoopbackServer.Response(status: 204)
        case "/events":
            return events()
        default:
            let row = condition.withLock { rows[request.path] }
            return row.flatMap { file($0, request) } ?? .text("There is no such file\n", status: 404)
        }
    }

    private func response(_ type: String, _ body: Data, _ headers: [String: String]) -> LoopbackServer.Response {
        let own = [
            "Content-Type": type, "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
        ]
        return LoopbackServer.Response(headers: own.merging(headers) { $1 }, body: body)
    }

    /// Returns a file, or the byte range that a media player requests in order to start in the middle.
    ///
    /// Nil if the file cannot be read.
    private func file(_ row: Substitution, _ request: LoopbackServer.Request) -> LoopbackServer.Response? {
        var range: Range<Int>?
        if let header = request.headers["range"], case .part(let part) = ByteRange(header, length: row.size) {
            range = part
        }
        guard let data = row.data(in: manifest.folder, range) else { return nil }
        // An HTML file from the manifest runs in a sandbox. The sandbox gives the file an origin of its own, so the
        // file's scripts cannot read from this server.
        let headers = [
            "Cache-Control": "max-age=31536000, immutable", "Content-Security-Policy": "sandbox",
            "Accept-Ranges": "bytes",
        ]
        var response = response(row.mediaType, data, headers)
        if let range, !data.isEmpty {
            response.status = 206
            let last = range.lowerBound + data.count - 1
            response.headers["Content-Range"] = "bytes \(range.lowerBound)-\(last)/\(row.size)"
        }
        return response
    }

    /// Returns a stream of server-sent events (HTML §9.2): the page's version, now and after each change.
    private func events() -> LoopbackServer.Response {
        let sent = SentVersion()
        var response = LoopbackServer.Response.stream { [weak self] in
            guard let version = self?.version(after: sent.version) else { return nil }
            // Send an empty comment, because sending it reveals whether the client has disconnected.
            if version == sent.version { return Data(":\n\n".utf8) }
            sent.version = version
            return Data("data: \(version)\n\n".utf8)
        }
        response.headers = ["Content-Type": "text/event-stream", "Cache-Control": "no-store"]
        return response
    }

    /// The page version that was last sent to one client.
    // Only accessed on the thread of the client's connection.
    private final class SentVersion: @unchecked Sendable {
        var version = 0
    }

    /// Waits up to 20 seconds for a version other than `known`, and returns the current version.
    private func version(after known: Int) -> Int {
        let end = Date(timeIntervalSinceNow: 20)
        return condition.withLock {
            while version == known, condition.wait(until: end) {}
            return version
        }
    }
}

import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import LoopbackServer
import SubstituteCheckKit

/// Shows what ships in a browser on this machine, and shows it anew when something is saved.
///
/// It answers for the page and the rows of the table, and to nobody who asks by another name: a page of the web cannot
/// have its own name lead here (DNS rebinding).
// Mutable state is only accessed inside the condition's lock.
final class PreviewServer: @unchecked Sendable {
    private let manifest: ManifestFile
    private let now: @Sendable () -> Date
    private let condition = NSCondition()
    private var version = 1
    private var check: ManifestCheck
    /// Sentences about the files that servers have, and the version of the own file to which each applies.
    private var marks: [String: (words: String, version: String)] = [:]
    /// The substitutions of the cards, by the paths of their addresses: nothing else is served besides the page.
    private var rows: [String: Substitution] = [:]
    private var page = Data()
    private var server: LoopbackServer?
    private var watcher: FolderWatcher?
    /// The recording of the app; nil for none.
    private let recording: URL?
    private var use: RecordedUse?

    /// The folder of files' addresses.
    private static let prefix = "/files/"

    /// Starts to serve.
    ///
    /// - Parameters:
    ///   - manifest: What is shown.
    ///   - recording: What an app has recorded, which need not be there yet; nil for none.
    ///   - now: The time.
    /// - Throws: ``ToolError`` when the manifest cannot be read, or nothing can be served.
    init(_ manifest: ManifestFile, recording: URL? = nil, _ now: @escaping @Sendable () -> Date) throws {
        (self.manifest, self.recording, self.now) = (manifest, recording, now)
        check = ManifestCheck(manifest, on: now())
        if let issue = check.issues.first, issue.code == .unreadableManifest { throw ToolError(issue.message) }
        layOut()
        server = try LoopbackServer(maximumBody: 0, remembersRequests: false) { [weak self] request in
            self?.answer(request) ?? .text("", status: 503)
        }
        do {
            watcher = try FolderWatcher(manifest.folder, manifest: manifest.url) { [weak self] _ in
                self?.changed()
            }
        } catch {
            server?.stop()
            throw ToolError("the manifest's folder cannot be watched: \(error.localizedDescription)")
        }
        // What was saved before it was watched.
        changed()
    }

    /// The address to open.
    var url: URL? { server?.url.appendingPathComponent("/") }

    /// A summary of the manifest as it is now.
    var summary: String { condition.withLock { PreviewSummary(check).description } }

    /// What is shown.
    var current: ManifestCheck { condition.withLock { check } }

    /// Says of files what their servers say.
    func mark(_ marks: [String: String]) {
        condition.withLock {
            let versions = Dictionary(check.substitutions.map { ($0.file, Self.version(of: $0)) }) { first, _ in first }
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
            layOut()
            condition.broadcast()
        }
    }

    /// What the recording says of the manifest; nil when there is none, or one of them cannot be read.
    private func recordedUse(of check: ManifestCheck) -> RecordedUse? {
        guard let recording, check.errors.isEmpty, let data = try? Data(contentsOf: recording),
            let file = try? HARFile(data, name: recording.lastPathComponent),
            let table = try? SubstitutionTable.of(manifest)
        else { return nil }
        return RecordedUse(file, of: check.substitutions, in: table)
    }

    /// Shows what the app records, as it records it; returns only when cancelled.
    func followRecording() async throws {
        guard let recording else { return try await Task.sleep(nanoseconds: .max) }
        // The app replaces the file once a second, wherever it lies.
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

    /// Makes the page of what is known.
    private func layOut() {
        var rows: [String: Substitution] = [:]
        let versions = Dictionary(check.substitutions.map { ($0.file, Self.version(of: $0)) }) { first, _ in first }
        let valid = marks.filter { $0.value.version == versions[$0.key] }.mapValues(\.words)
        let preview = PreviewPage(
            check,
            version: version,
            marks: valid,
            use: use,
            editable: manifest.url
        ) { substitution in
            let address = Self.prefix + PreviewPage.encoded(substitution.file)
            rows[address] = substitution
            return "\(address)?\(versions[substitution.file] ?? "")"
        }
        self.rows = rows
        page = Data(preview.html.utf8)
    }

    /// Size and time of modification: while these stay, a browser keeps the file.
    private static func version(of substitution: Substitution) -> String {
        let attributes = try? FileManager.default.attributesOfItem(atPath: substitution.realPath)
        let date = (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
        return "\(substitution.size)-\(UInt64(max(0, date) * 1e6))"
    }

    // MARK: - Answers

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
            return row.flatMap { file($0, request) } ?? .text("There is no \(visible(request.path))\n", status: 404)
        }
    }

    private func response(_ type: String, _ body: Data, _ headers: [String: String]) -> LoopbackServer.Response {
        let own = [
            "Content-Type": type, "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
        ]
        return LoopbackServer.Response(headers: own.merging(headers) { $1 }, body: body)
    }

    /// A file, or the part of it that a player asks for to begin in the middle; nil when it cannot be read.
    private func file(_ row: Substitution, _ request: LoopbackServer.Request) -> LoopbackServer.Response? {
        var range: Range<Int>?
        if let header = request.headers["range"], case .part(let part) = ByteRange(header, length: row.size) {
            range = part
        }
        guard let data = row.data(in: manifest.folder, range) else { return nil }
        // A page of the manifest is shown like one of a stranger: it reads nothing here.
        let headers = [
            "Cache-Control": "max-age=31536000, immutable", "Content-Security-Policy": "sandbox",
            "Accept-Ranges": "bytes",
        ]
        var response = response(row.mediaType.description, data, headers)
        if let range, !data.isEmpty {
            response.status = 206
            let last = range.lowerBound + data.count - 1
            response.headers["Content-Range"] = "bytes \(range.lowerBound)-\(last)/\(row.size)"
        }
        return response
    }

    /// Server-sent events (HTML §9.2): the version of the page, now and whenever there is another.
    private func events() -> LoopbackServer.Response {
        let told = Told()
        var response = LoopbackServer.Response.stream { [weak self] in
            guard let version = self?.version(after: told.version) else { return nil }
            // A comment, by which a client that is gone is found out.
            if version == told.version { return Data(":\n\n".utf8) }
            told.version = version
            return Data("data: \(version)\n\n".utf8)
        }
        response.headers = ["Content-Type": "text/event-stream", "Cache-Control": "no-store"]
        return response
    }

    /// The version of the page that one client knows.
    // Only accessed on the thread of its connection.
    private final class Told: @unchecked Sendable {
        var version = 0
    }

    /// Waits for another version than a client knows, but not for long.
    private func version(after known: Int) -> Int {
        let end = Date(timeIntervalSinceNow: 20)
        return condition.withLock {
            while version == known, condition.wait(until: end) {}
            return version
        }
    }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Compares the files of a manifest with the copies that the tool loaded, and with what their servers send now.
struct RemoteCheck {
    /// A file and the URL that it answers.
    struct CheckedFile: Sendable {
        let substitution: Substitution
        let url: URL
        /// The reason why the server is not queried; nil if the server is queried.
        let exemption: String?
        /// True if other entries name the same file, so that no server's version can replace it.
        let isShared: Bool

        var key: URLPattern { substitution.pattern }
    }

    struct Finding: Sendable {
        let copy: CheckedFile
        private(set) var state: RemoteRecord.State
        /// The reason for the state, as a sentence's second half; nil for a current file.
        private(set) var reason: String?
        /// The version with which the file was compared, to be recorded; nil after status 304.
        private(set) var version: RemoteVersion?
        /// The server's version, as a resource; nil if it is the file's, or if its server did not send it.
        fileprivate(set) var resource: Resource?
        /// The length of the server's bytes; nil if it is that of the file, or if the server did not send them.
        fileprivate(set) var size: Int?

        mutating func set(_ state: RemoteRecord.State, _ reason: String?, _ version: RemoteVersion? = nil) {
            (self.state, self.reason, self.version) = (state, reason, version)
        }
    }

    /// The files of all entries, in the manifest's order.
    let copies: [CheckedFile]
    private let record: RemoteRecord

    /// - Throws: ``ToolError`` if the record of the loaded files cannot be read.
    init(_ check: ManifestCheck, in folder: URL) throws(ToolError) {
        record = try RemoteRecord(in: folder)
        var seen: Set<Data> = []
        let places = check.places
        copies = check.shipped.compactMap { substitution in
            // The `index.html` of a folder answers two URLs. Count the file once.
            let file = Data("\(substitution.line):\(substitution.column):\(substitution.realPath)".utf8)
            guard seen.insert(file).inserted, let url = URL(string: substitution.pattern.targetURL) else { return nil }
            let conditions = substitution.conditions.map(\.description).joined(separator: " or ")
            let exemption =
                conditions.isEmpty ? Self.exemption(of: url.host ?? "") : "answers only when \(conditions)"
            return CheckedFile(
                substitution: substitution,
                url: url,
                exemption: exemption,
                isShared: substitution.isShared(among: places)
            )
        }
    }

    /// Returns the files of the entries that have this key, which may be without a scheme.
    ///
    /// - Throws: ``UsageError`` if there is none.
    func copies(of key: URLPattern) throws(UsageError) -> [CheckedFile] {
        let wanted = Set(key.targets.map(\.identity.description))
        let found = copies.filter { !wanted.isDisjoint(with: $0.key.targets.map(\.identity.description)) }
        guard !found.isEmpty else {
            throw UsageError(
                "no entry has the URL \(quoted(key.spelling)); substitute preview --format text shows the URLs"
            )
        }
        return found
    }

    /// Returns the reason not to query a server; nil if the server may be queried.
    ///
    /// A server is not queried if its name is reserved for examples (RFC 2606 §2 and §3). The first entry of a new
    /// manifest names such a server.
    private static func exemption(of host: String) -> String? {
        let names = ["example", "example.com", "example.net", "example.org"]
        let host = host.lowercased()
        guard names.contains(where: { host == $0 || host.hasSuffix(".\($0)") }) else { return nil }
        return "its server is an example, which has no files"
    }

    /// Returns the fields with which a file was loaded; nil if they are not recorded.
    func asked(for file: Substitution) -> [String: String]? { record.version(of: file.recordedURL)?.asked }

    /// Queries the servers of files, with a few requests at a time.
    ///
    /// - Parameters:
    ///   - copies: The files.
    ///   - staging: The folder for the servers' versions.
    ///   - limit: The maximum size of a version, in bytes; nil for the limit of all loads.
    ///   - discardsEdits: True to load the version of an edited file, even if the server still has the recorded one.
    ///   - network: The way to the servers.
    /// - Returns: A finding for each file.
    func findings(
        of copies: [CheckedFile],
        in staging: StagingFolder,
        limit: Int? = nil,
        discardsEdits: Bool = false,
        _ network: Network
    ) async -> [Finding] {
        await Fetcher.inParallel(copies, network) { copy, fetcher in
            if let exemption = copy.exemption { return Finding(copy: copy, state: .exempt, reason: exemption) }
            do {
                return try await finding(of: copy, staging, limit, discardsEdits, fetcher)
            } catch {
                let reason = (error as? ToolError)?.message ?? error.localizedDescription
                return Finding(copy: copy, state: .unknown, reason: reason)
            }
        }
    }

    private func finding(
        of copy: CheckedFile,
        _ staging: StagingFolder,
        _ limit: Int?,
        _ discardsEdits: Bool,
        _ fetcher: Fetcher
    ) async throws -> Finding {
        let here = try Fingerprint(of: URL(fileURLWithPath: copy.substitution.realPath), named: "the file")
        let url = copy.substitution.recordedURL
        let known = record.version(of: url)
        let download = Download(copy.key, copy.url, asked: known.map { $0.asked ?? [:] })
        var conditions: [String: String] = [:]
        if known?.copy == here || !discardsEdits {
            // RFC 9110 §13.1: if a request has both fields, `If-None-Match` decides.
            conditions["If-None-Match"] = known?.etag
            conditions["If-Modified-Since"] = known?.lastModified
        }
        let answer = try await download.load(with: fetcher, staging, limit, conditions)
        let there: Fingerprint
        switch (answer.status, known?.copy) {
        case (304, let copy?) where !conditions.isEmpty: there = copy
        case (200, _): there = try Fingerprint(of: answer.file, named: "the loaded file")
        case (404, _), (410, _):
            return Finding(copy: copy, state: .gone, reason: "its server answers \(answer.status)")
        default: return Finding(copy: copy, state: .unknown, reason: answer.refusal)
        }
        let (state, reason) = record.state(of: url, here: here, there: there)
        var finding = Finding(copy: copy, state: state, reason: reason)
        if state != .current { finding.size = there.count }
        if copy.isShared, state != .current, state != .empty { finding.set(.differs, Addition.sharedFile) }
        if answer.status == 200 {
            let resource = await download.resource(answer, with: fetcher, staging)
            finding.set(finding.state, finding.reason, resource.version?.with(there))
            finding.resource = resource
        }
        // The folder need not hold all versions at once that are here already.
        if state == .current { try? FileManager.default.removeItem(at: answer.file) }
        return finding
    }
}

extension RemoteCheck.Finding {
    /// True if a designer should look at this finding.
    var needsAttention: Bool { [.differs, .conflict, .empty, .gone].contains(state) }

    /// The note on the file's card in the preview; nil if the card has no note.
    var mark: String? {
        switch state {
        case .differs, .conflict, .gone, .empty: "outdated: \(reason ?? "")"
        case .unknown: "not compared: \(reason ?? "")"
        case .edited: reason
        case .current, .exempt: nil
        }
    }

    /// Returns the commands that replace an edited file, or decide a conflict, with the options of the run.
    func remedies(_ manifest: ManifestFile, _ options: [String] = []) -> [String] {
        let verbs: [(option: String, purpose: String, states: Set<RemoteRecord.State>)] = [
            ("--discard-edits", "to take its server's version", [.edited, .conflict]),
            ("--keep-edits", "to keep the file as it is", [.conflict]),
        ]
        return verbs.filter { $0.states.contains(state) }.map { option, purpose, _ in
            "\(purpose): \(manifest.line(["update", option] + options, urls: [copy.substitution.url]))"
        }
    }

    /// The size of the local file in bytes, as it is now.
    var localSize: Int? {
        let path = copy.substitution.realPath
        return (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
    }
}

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
        /// The reason for the state, as a sentence's second half; nil if the state says it all.
        var reason: String?
        /// The validators of the bytes with which the file was compared, to be recorded; nil after status 304.
        var version: RemoteVersion?
        /// The length of the server's bytes, as far as the server sent it.
        var size: Int?

        mutating func set(_ state: RemoteRecord.State, _ reason: String?) {
            (self.state, self.reason, version) = (state, reason, nil)
        }
    }

    /// The files of all entries, in the manifest's order.
    let copies: [CheckedFile]
    private let record: RemoteRecord

    /// - Throws: ``ToolError`` if the record of the loaded files cannot be read.
    init(_ check: ManifestCheck, in folder: URL) throws(ToolError) {
        record = try RemoteRecord(in: folder)
        var seen: Set<Data> = []
        let places = Dictionary(grouping: check.shipped.filter(\.conditions.isEmpty), by: \.realPath)
            .mapValues { Set($0.map { [$0.line, $0.column] }).count }
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
                isShared: places[substitution.realPath, default: 0] > 1
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

    /// Queries the servers of files, with a few requests at a time.
    func findings(of copies: [CheckedFile], _ network: Network) async -> [Finding] {
        await Fetcher.inParallel(copies, network) { await finding(of: $0, $1) }
    }

    private func finding(of copy: CheckedFile, _ fetcher: Fetcher) async -> Finding {
        if let exemption = copy.exemption { return Finding(copy: copy, state: .exempt, reason: exemption) }
        do {
            let file = URL(fileURLWithPath: copy.substitution.realPath)
            let here = try Fingerprint(of: file, named: "the file")
            let known = record.version(of: copy.substitution.recordedURL)
            let lengths = Set([here.count, known?.copy?.count].compactMap(\.self))
            let isConditional = known?.etag != nil || known?.lastModified != nil
            var headers: [String: String] = [:]
            // RFC 9110 §13.1: if a request has both fields, `If-None-Match` decides.
            headers["If-None-Match"] = known?.etag
            headers["If-Modified-Since"] = known?.lastModified
            let answer = try await fetcher.load(copy.url, headers: headers, .compare(lengths))
            switch answer.status {
            case 304 where isConditional:
                return finding(of: copy, here, known?.copy, answer)
            case 200:
                if answer.fingerprint?.count == 0, !lengths.contains(0) {
                    return Finding(copy: copy, state: .empty, reason: "its server sends an empty file")
                }
                return finding(of: copy, here, answer.fingerprint, answer)
            case 404, 410:
                return Finding(copy: copy, state: .gone, reason: "its server answers \(answer.status)")
            default:
                return Finding(copy: copy, state: .unknown, reason: answer.refusal)
            }
        } catch {
            let reason = (error as? ToolError)?.message ?? error.localizedDescription
            return Finding(copy: copy, state: .unknown, reason: reason)
        }
    }

    private func finding(
        of copy: CheckedFile,
        _ here: Fingerprint,
        _ there: Fingerprint?,
        _ answer: Fetcher.FetchedResponse
    ) -> Finding {
        let url = copy.substitution.recordedURL
        let state = record.state(of: url, here: here, there: there)
        let size = there?.count ?? answer.length
        var finding = Finding(copy: copy, state: state)
        if answer.status == 200 { finding.version = there.map(answer.version.with) }
        if state != .current { finding.size = size }
        if copy.isShared, state != .current {
            return Finding(copy: copy, state: .differs, reason: Addition.sharedFile, size: size)
        }
        if state == .edited || state == .conflict {
            finding.reason = record.words(state, of: url, here: here.count, there: size)
        }
        return finding
    }
}

extension RemoteCheck.Finding {
    /// True if a designer should look at this finding.
    var needsAttention: Bool { [.differs, .conflict, .empty, .gone].contains(state) }

    /// The note on the file's card in the preview; nil if the card has no note.
    var mark: String? {
        switch state {
        case .differs: "outdated: its server has another version"
        case .conflict: "edited here: its server has another version"
        case .edited: "edited here"
        case .gone, .empty: "outdated: \(reason ?? "")"
        case .unknown: "not compared: \(reason ?? "")"
        case .current, .exempt: nil
        }
    }

    /// Returns the commands that decide a conflict, with the options of the run.
    func remedies(_ manifest: ManifestFile, _ options: [String]) -> [String] {
        guard state == .conflict else { return [] }
        let urls = [copy.substitution.url]
        return [
            "  to take its server's version: \(manifest.line(["update", "--discard-edits"] + options, urls: urls))",
            "  to keep the file as it is: \(manifest.line(["update", "--keep-edits"] + options, urls: urls))",
        ]
    }

    /// The size of the local file in bytes, as it is now.
    var localSize: Int? {
        let path = copy.substitution.realPath
        return (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
    }

    var cells: [String] {
        let there = size.map { ", there \(ByteCount($0))" } ?? ""
        let sizes = state == .differs ? "here \(ByteCount(copy.substitution.size))\(there)" : ""
        return [
            state.rawValue, visible(copy.substitution.url), visible(copy.substitution.file), visible(reason ?? sizes),
        ]
    }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Compares the files of a manifest with the current versions on their servers.
struct RemoteCheck {
    /// A file and the URL that it answers.
    struct CheckedFile: Sendable {
        let substitution: Substitution
        let key: URLPattern
        let url: URL
        /// The reason why the server is not queried; nil if the server is queried.
        let exemption: String?
    }

    /// The state of a local file, according to its server's response.
    enum RemoteState: Sendable {
        /// The server has the same bytes; holds the server's version, or nil after status 304.
        case current(RemoteVersion?)
        /// The server has different bytes; holds their length and date, as far as the server sent them.
        case differs(size: Int?, lastModified: String?)
        /// The server no longer has the resource; holds the status.
        case gone(Int)
        /// The state is unknown; holds the reason.
        case unknown(String)
        /// The server was not queried; holds the reason.
        case exempt(String)
    }

    struct Finding: Sendable {
        let copy: CheckedFile
        let state: RemoteState
    }

    /// The files of all entries, in the manifest's order.
    let copies: [CheckedFile]
    private let record: RemoteRecord

    init(_ check: ManifestCheck, in folder: URL) {
        var seen: Set<Data> = []
        copies = check.shipped.compactMap { substitution in
            // The `index.html` of a folder answers two URLs. Count the file once.
            let file = Data("\(substitution.line):\(substitution.column):\(substitution.realPath)".utf8)
            guard seen.insert(file).inserted,
                let key = try? URLPattern(substitution.url), let url = URL(string: key.targetURL)
            else { return nil }
            let conditions = substitution.conditions.map(\.description).joined(separator: " or ")
            let exemption =
                conditions.isEmpty ? Self.exemption(of: url.host ?? "") : "answers only when \(conditions)"
            return CheckedFile(substitution: substitution, key: key, url: url, exemption: exemption)
        }
        record = RemoteRecord(in: folder)
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

    /// The size in bytes above which a HEAD request is sent first for a file without a recorded version.
    private static let largeSize = 64 * 1024

    /// Queries the servers of all files, with a few requests at a time.
    func findings(of copies: [CheckedFile], _ network: Network) async -> [Finding] {
        let progress = ProgressLine(of: copies.count, network.showProgress)
        let fetcher = Fetcher(network) { progress.receive($0) }
        defer {
            fetcher.finish()
            progress.end()
        }
        let record = record
        return await inParallel(copies) { copy in
            let state = await Self.state(of: copy, record, fetcher)
            progress.step()
            return Finding(copy: copy, state: state)
        }
    }

    private static func state(of copy: CheckedFile, _ record: RemoteRecord, _ fetcher: Fetcher) async -> RemoteState {
        if let exemption = copy.exemption { return .exempt(exemption) }
        guard let data = copy.substitution.bytes(upTo: copy.substitution.size + 1) else {
            return .unknown("the file cannot be read")
        }
        do {
            let known = record.version(of: copy.key.spelling, copy: data)
            // If a version is recorded, one request is enough: the server sends a body only if its version differs. If
            // no version is recorded, send a HEAD request for a large file. If the length differs, the body is not
            // needed.
            if known == nil, data.count > largeSize {
                let answer = try await fetcher.load(copy.url, .head)
                if answer.status == 200, let length = answer.length, length > 0, length != data.count {
                    return .differs(size: length, lastModified: answer.version.lastModified)
                }
            }
            var headers: [String: String] = [:]
            // RFC 9110 §13.1: if a request has both fields, `If-None-Match` decides.
            headers["If-None-Match"] = known?.etag
            headers["If-Modified-Since"] = known?.lastModified
            let answer = try await fetcher.load(copy.url, headers: headers, .compare(data))
            switch answer.status {
            case 304: return .current(nil)
            case 200 where answer.isSame: return .current(answer.version)
            case 200: return .differs(size: answer.length, lastModified: answer.version.lastModified)
            case 404, 410: return .gone(answer.status)
            default: return .unknown("its server answers \(answer.status)")
            }
        } catch {
            return .unknown((error as? ToolError)?.message ?? error.localizedDescription)
        }
    }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Compares the files of a manifest with what their servers have now.
struct RemoteCheck {
    /// One file, and the URL it stands in for.
    struct Copy: Sendable {
        let substitution: Substitution
        let key: URLPattern
        let url: URL
        /// Why the server is not asked; nil when it is.
        let exemption: String?
    }

    /// What its server says.
    enum State: Sendable {
        /// The same bytes, and the version that the server calls them, if it was told now.
        case current(RemoteVersion?)
        /// The server has other bytes: how many, and since when, as far as it says.
        case differs(size: Int?, lastModified: String?)
        /// There is nothing any more, with this status.
        case gone(Int)
        /// It is not known, for this reason.
        case unknown(String)
        /// It was not asked, for this reason.
        case exempt(String)
    }

    struct Finding: Sendable {
        let copy: Copy
        let state: State
    }

    /// One for each file that an entry names, in the manifest's order.
    let copies: [Copy]
    private let record: RemoteRecord

    init(_ check: ManifestCheck, in folder: URL) {
        var seen: Set<Data> = []
        copies = check.shipped.compactMap { substitution in
            // A folder's index answers for two URLs.
            let file = Data("\(substitution.line):\(substitution.column):\(substitution.realPath)".utf8)
            guard seen.insert(file).inserted,
                let key = try? URLPattern(substitution.url), let url = URL(string: key.targetURL)
            else { return nil }
            let conditions = substitution.conditions.map(\.description).joined(separator: " or ")
            let exemption =
                conditions.isEmpty ? Self.exemption(of: url.host ?? "") : "answers only when \(conditions)"
            return Copy(substitution: substitution, key: key, url: url, exemption: exemption)
        }
        record = RemoteRecord(in: folder)
    }

    /// The reason not to ask a server whose name is for examples (RFC 2606 §2 and §3).
    ///
    /// The first entry of a new manifest has one.
    private static func exemption(of host: String) -> String? {
        let names = ["example", "example.com", "example.net", "example.org"]
        let host = host.lowercased()
        guard names.contains(where: { host == $0 || host.hasSuffix(".\($0)") }) else { return nil }
        return "its server is an example, which has no files"
    }

    /// Copies above this size are asked about first, when nothing is known of the server's version, in bytes.
    private static let largeSize = 64 * 1024

    /// Asks each server, a few at a time.
    func findings(of copies: [Copy], _ network: Network) async -> [Finding] {
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

    private static func state(of copy: Copy, _ record: RemoteRecord, _ fetcher: Fetcher) async -> State {
        if let exemption = copy.exemption { return .exempt(exemption) }
        guard let data = copy.substitution.bytes(upTo: copy.substitution.size + 1) else {
            return .unknown("the file cannot be read")
        }
        do {
            let known = record.version(of: copy.key.spelling, copy: data)
            // One request when a version is known: the server sends nothing, or what differs. Otherwise a length that
            // differs spares a large body.
            if known == nil, data.count > largeSize {
                let answer = try await fetcher.load(copy.url, .head)
                if answer.status == 200, let length = answer.length, length > 0, length != data.count {
                    return .differs(size: length, lastModified: answer.version.lastModified)
                }
            }
            var headers: [String: String] = [:]
            // RFC 9110 §13.1: where both are sent, the first decides.
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

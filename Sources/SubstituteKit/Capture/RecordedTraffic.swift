import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit
import SubstitutionChecking

/// What a recorded app loaded from the network, in the order of what files would save.
struct RecordedTraffic {
    /// All loads of one URL by one method.
    struct Item {
        let method: String
        let url: String
        fileprivate(set) var times = 0
        /// The bytes of all loads together, as far as they are known.
        fileprivate(set) var byteCount = 0
        /// What the app said, as a sentence.
        fileprivate(set) var reason = ""
        /// Why no file can answer, or why the entry's did not, in words; nil for a URL that a file can answer.
        fileprivate(set) var refusal: String?
        /// Whether the server promises that the answer stays what it is for a week or more.
        fileprivate(set) var staysTheSame = false
        fileprivate(set) var type: MediaType?
    }

    /// The number of requests, and of those that files answered.
    private(set) var (requests, fromFiles) = (0, 0)
    /// The bytes that were not loaded.
    private(set) var bytesFromFiles = 0
    /// The URLs that files could answer: first those whose servers promise that they stay, then those that would save
    /// most.
    let candidates: [Item]
    /// The other URLs that the network answered.
    let others: [Item]

    /// Sorts what an app has recorded; nil for a recording by another program.
    init?(_ recording: HARFile) {
        var items: [String: Item] = [:]
        var isRecorded = false
        for exchange in recording.exchanges {
            guard let answer = exchange.recorded else { continue }
            isRecorded = true
            requests += answer.times
            switch answer.answeredBy {
            case .file, .archive:
                fromFiles += answer.times
                bytesFromFiles += exchange.status == 200 ? answer.bytes : 0
            case .cache, .nobody: break
            case .network:
                let key = "\(exchange.method) \(exchange.url)"
                var item = items[key] ?? Item(method: exchange.method, url: exchange.url)
                item.add(exchange, answer)
                items[key] = item
            }
        }
        guard isRecorded else { return nil }
        let sorted = items.values.sorted {
            ($0.staysTheSame ? 1 : 0, $0.byteCount, $0.times, $1.url, $1.method)
                > ($1.staysTheSame ? 1 : 0, $1.byteCount, $1.times, $0.url, $0.method)
        }
        (candidates, others) = (sorted.filter { $0.refusal == nil }, sorted.filter { $0.refusal != nil })
    }
}

extension RecordedTraffic.Item {
    fileprivate mutating func add(_ exchange: HARFile.Exchange, _ answer: RecordedAnswer) {
        times += answer.times
        byteCount += answer.bytes
        reason = answer.reason ?? reason
        type = exchange.type ?? type
        refusal = refusal ?? Self.refusal(exchange, answer)
        staysTheSame = exchange.lifetime.map { $0 >= 7 * 24 * 3600 } ?? false
    }

    private static func refusal(_ exchange: HARFile.Exchange, _ answer: RecordedAnswer) -> String? {
        if answer.line != nil { return answer.reason ?? "an entry names it, and asks the network first" }
        if exchange.method != "GET" && exchange.method != "HEAD" { return "only GET and HEAD are answered with files" }
        if answer.isPersonal == true || exchange.isAuthorized || exchange.isPersonal {
            return "it may be for one person"
        }
        if exchange.status == 0 { return "it led elsewhere" }
        if exchange.status != 200 { return "the server said \(exchange.status)" }
        if exchange.lifetime == 0 { return "its server wants to be asked each time" }
        return nil
    }

    /// The entry to write.
    ///
    /// - Parameter names: The names that files have in the manifest's folder.
    /// - Returns: The entry as it stands in a manifest; nil where no file can answer.
    func entry(_ names: inout FileNames) -> String? {
        guard refusal == nil, let key = try? URLPattern(requested: url) else { return nil }
        let file = quoted(names.path(for: key, type) { _ in false }, limit: .max)
        // What the recording left out stands for any value.
        let masked = maskedParameters
        guard !masked.isEmpty else { return "\(quoted(key.spelling, limit: .max)): \(file)" }
        let (path, rest) = unmasked
        let list = masked.map { quoted($0) }.joined(separator: ", ")
        return "\(quoted(path + rest, limit: .max)): { \"file\": \(file), \"ignoreQuery\": [\(list)] }"
    }

    private var parameters: [Substring] {
        url.firstIndex(of: "?").map { url[url.index(after: $0)...].split(separator: "&") } ?? []
    }

    private var maskedParameters: [String] {
        parameters.filter { $0.hasSuffix("=\(HARFile.mask)") }.map { String($0.prefix { $0 != "=" }) }
    }

    /// The URL without the parameters whose values were left out.
    private var unmasked: (path: String, query: String) {
        let kept = parameters.filter { !$0.hasSuffix("=\(HARFile.mask)") }.joined(separator: "&")
        return (String(url.prefix { $0 != "?" }), kept.isEmpty ? "" : "?" + kept)
    }
}

import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit
import SubstitutionChecking

/// The resources that a recorded app loaded from the network: candidates for files, and others.
///
/// Both lists have the order that ``candidates`` describes.
struct RecordedTraffic {
    /// All loads of one URL with one method.
    struct Item {
        let method: String
        let url: String
        fileprivate(set) var times = 0
        /// The total number of bytes of all loads whose size is known.
        fileprivate(set) var byteCount = 0
        /// The reason why the URL is no candidate; nil for a candidate.
        ///
        /// Either no file can answer, or the manifest already has an entry. If there is an entry, the reason says why
        /// its file has not answered.
        fileprivate(set) var refusal: String?
        /// True if the server promises that the response stays the same for a week or more.
        fileprivate(set) var staysTheSame = false
    }

    /// The number of requests, and the number of requests that were answered by files.
    private(set) var (requests, fromFiles) = (0, 0)
    /// The URLs of all requests.
    private(set) var urls: Set<String> = []
    /// The number of bytes that did not have to be loaded.
    private(set) var bytesFromFiles = 0
    /// The URLs that files could answer.
    ///
    /// URLs come first if their servers promise that the response stays the same; the remaining URLs follow. Each of
    /// the two groups is sorted by the number of bytes that would not have to be loaded, the largest number first.
    let candidates: [Item]
    /// The other URLs that the network answered; ``Item/refusal`` says why each of them is no candidate.
    let others: [Item]

    /// Divides an app's recorded loads into candidates and others; nil for a recording by another program.
    init?(_ recording: HARFile) {
        var items: [String: Item] = [:]
        var isRecorded = false
        for exchange in recording.exchanges {
            guard let answer = exchange.recorded else { continue }
            isRecorded = true
            requests.add(stated: answer.times)
            urls.insert(exchange.url)
            switch answer.answeredBy {
            case .file, .archive:
                fromFiles.add(stated: answer.times)
                // If a file has answered after the network, the recording has the status of the network's response,
                // such as 404. In that case, the network has also sent a body, so the file saved no bytes.
                bytesFromFiles.add(stated: (200..<300).contains(exchange.status) ? answer.bytes : 0)
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
        times.add(stated: answer.times)
        byteCount.add(stated: answer.bytes)
        refusal = refusal ?? Self.refusal(exchange, answer)
        staysTheSame = exchange.lifetime.map { $0 >= 7 * 24 * 3600 } ?? false
    }

    private static func refusal(_ exchange: HARFile.Exchange, _ answer: RecordedAnswer) -> String? {
        if let reason = exchange.vagueness { return reason }
        if answer.line != nil { return "its entry asks the network first" }
        if exchange.method != "GET" && exchange.method != "HEAD" { return "only GET and HEAD are answered with files" }
        if exchange.sharing.isForbidden { return exchange.sharing.reason }
        if exchange.status == 0 { return "it was redirected" }
        if exchange.status != 200 { return "its server answered \(exchange.status)" }
        if exchange.lifetime == 0 { return "its server wants a new request each time" }
        return nil
    }
}

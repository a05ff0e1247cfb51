import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit
import SubstitutionChecking
import SubstitutionRules

/// The resources of a recording, which was read from a file or made in a browser.
struct RecordedSource: ResourceSource {
    /// The decision on one exchange.
    fileprivate struct Choice {
        let url: String
        let status: Int
        var result: Result<SelectedExchange, ToolError>
    }

    /// An exchange that becomes an entry.
    struct SelectedExchange {
        var key: URLPattern
        /// The parameters of the query that the entry is to ignore.
        var ignored: [String] = []
        /// The length of the body, in bytes.
        let count: Int
        let exchange: HARFile.Exchange
        /// Sentences about the exchange, for the user.
        var remarks: [String] = []

        /// Returns true if both exchanges have the same body.
        ///
        /// Decoded bodies are not kept, so this function decodes both bodies if they have the same length.
        func hasBody(of other: SelectedExchange) -> Bool {
            count == other.count && (try? exchange.bytes) == (try? other.exchange.bytes)
        }
    }

    /// The options of the command line.
    struct Filter {
        /// The kinds of resources to import; empty for all.
        var kinds: Set<ResourceKind> = []
        let hosts: HostSelection
        /// Patterns in which `*` matches anything; a URL that contains one of them is left out.
        var exclusions: [String] = []
        var stripsQuery = false
        /// The maximum size of a body, in bytes; nil for any size.
        var limit: Int?
        /// The reasons why recorded bodies are of no use, keyed by URL.
        var leftOut: [String: String] = [:]
        /// The fields of requests that decide between versions of a resource, keyed by URL.
        var preferences: [String: [String: String]] = [:]
        /// True to take responses that may be for one person.
        var includesPrivate = false
        /// True to load what an entry answers already.
        var replaces = false
    }

    let isStrict = false
    let lines: [String] = []
    /// The recording; nil after the first round, which has all of its resources.
    private var recording: HARFile?
    private let filter: Filter
    private let console: Console

    init(_ recording: HARFile, _ filter: Filter, _ console: Console) {
        (self.recording, self.filter, self.console) = (recording, filter, console)
    }

    mutating func next(after taken: [Resource], for addition: Addition, in staging: StagingFolder) async throws
        -> [FoundResource]
    {
        guard let exchanges = recording?.exchanges else { return [] }
        recording = nil
        if !exchanges.isEmpty, exchanges.allSatisfy({ !$0.url.lowercased().hasPrefix("http") }) {
            console.printError(
                "The recording has no request to a server: record in the developer tools of the page itself."
            )
        }
        let choices = await choices(of: exchanges.filter { !$0.isWithoutBody })
        let taken = Set(choices.compactMap { try? $0.result.get().key.identityKey })
        return try choices.map { choice in
            let pick: SelectedExchange
            switch choice.result {
            case .failure(let error): return FoundResource(choice.url, .failure(error))
            case .success(let selected): pick = selected
            }
            let resource = Resource(
                key: pick.key,
                ignored: pick.ignored,
                file: try staging.write(pick.exchange.bytes),
                type: pick.exchange.typeOfBytes,
                source: URL(fileURLWithPath: "/"),
                version: pick.exchange.version,
                isDecoded: pick.exchange.isDecoded,
                sharing: pick.exchange.sharing
            )
            return FoundResource(pick.key.spelling, .success(resource), remarks: pick.remarks)
        } + (try await loads(of: exchanges.filter(\.isWithoutBody), besides: taken, for: addition, in: staging))
    }

    /// Loads what an app has recorded without a body.
    private func loads(
        of exchanges: [HARFile.Exchange],
        besides taken: Set<String>,
        for addition: Addition,
        in staging: StagingFolder
    ) async throws -> [FoundResource] {
        var (refused, keys): ([FoundResource], [URLPattern]) = ([], [])
        for exchange in exchanges {
            do throws(ToolError) {
                keys.append(try key(of: exchange))
            } catch {
                refused.append(FoundResource(exchange.url, .failure(error)))
            }
        }
        keys.removeAll { taken.contains($0.identityKey) }
        var source = try URLSource(keys, replaces: filter.replaces, console.network, limit: filter.limit)
        return refused + (await source.next(after: [], for: addition, in: staging))
    }

    /// Returns the decisions, in the order of the recording.
    ///
    /// If several exchanges of one URL can be added, only the last one is selected.
    private func choices(of exchanges: [HARFile.Exchange]) async -> [Choice] {
        var exchanges = exchanges
        if !filter.includesPrivate { await compare(&exchanges) }
        var choices = exchanges.map { exchange in
            Choice(
                url: exchange.url,
                status: exchange.status,
                result: Result { () throws(ToolError) in try pick(exchange) }
            )
        }
        // What another frame has loaded, a browser may request again, and get 304.
        let taken = Set(choices.filter { (try? $0.result.get()) != nil }.map(\.url))
        choices.removeAll { $0.status == 304 && taken.contains($0.url) }
        if filter.stripsQuery { Self.stripQueries(&choices) }
        Self.keepLast(&choices)
        return choices
    }

    /// Returns the key for an exchange, unless what the recording says without the body speaks against it.
    private func key(of exchange: HARFile.Exchange) throws(ToolError) -> URLPattern {
        let url = exchange.url
        if let answerer = exchange.recorded?.answeredBy, answerer == .file || answerer == .archive {
            throw ToolError("the app answered it without the network")
        }
        if let reason = exchange.vagueness { throw ToolError(reason) }
        if url.isEmpty { throw ToolError("its request was not recorded") }
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard ["http", "https"].contains(scheme) else {
            let isScheme = url.contains(":") && !scheme.contains { "/?#".contains($0) }
            throw ToolError(isScheme ? "\(quoted(scheme + ":")) needs no server" : "it is not a complete URL")
        }
        guard exchange.method == "GET" else { throw ToolError("its method is \(exchange.method), not GET") }
        let key: URLPattern
        do {
            key = try URLPattern(requested: url)
        } catch .userInfo {
            throw ToolError("its URL holds a user name or password")
        } catch {
            // Nobody types this URL, so it gets no suggestion.
            throw ToolError(error.message(for: url))
        }
        try checkStatus(exchange)
        let path = key.address.path
        let kind = ResourceKind(exchange.type, path: path)
        if !filter.kinds.isEmpty, !filter.kinds.contains(kind) {
            throw ToolError("--only leaves out its kind, \(kind)")
        }
        if !filter.hosts.isEmpty, !filter.hosts.contains(key) {
            throw ToolError("--only-host leaves out its server")
        }
        if let part = filter.exclusions.first(where: { Self.matches($0, url) }) {
            throw ToolError("--exclude \(quoted(part)) leaves it out")
        }
        if let reason = filter.leftOut[url] { throw ToolError(reason) }
        return key
    }

    private func pick(_ exchange: HARFile.Exchange) throws(ToolError) -> SelectedExchange {
        let key = try key(of: exchange)
        let bytes = try exchange.bytes
        let body = IncomingBody(
            key: key,
            bytes: bytes,
            sent: exchange.typeOfBytes,
            isDecoded: exchange.isDecoded,
            sharing: exchange.sharing
        )
        try body.accepted(includingPrivate: filter.includesPrivate)
        if let limit = filter.limit, bytes.count > limit {
            throw ToolError("it has \(ByteCount(bytes.count)), more than --max-size")
        }
        var remarks: [String] = []
        // Some programs record the number of transferred bytes, or the number of characters, as the size.
        if let size = exchange.size, size != bytes.count {
            remarks.append("the recording states \(counted(size, "byte")), but holds \(bytes.count)")
        }
        return SelectedExchange(key: key, count: bytes.count, exchange: exchange, remarks: remarks)
    }

    /// Finds out whether responses to requests with cookies or own fields are the same without these.
    private func compare(_ exchanges: inout [HARFile.Exchange]) async {
        let uncertain = exchanges.enumerated().filter { _, exchange in
            var shared = exchange
            shared.sharing.isSameForAll = true
            return exchange.sharing.isUncertain && (try? pick(shared)) != nil
        }
        let preferences = filter.preferences
        let results = await Fetcher.inParallel(uncertain.map(\.element), console.network) { exchange, fetcher in
            guard let url = URL(string: exchange.url), let bytes = try? exchange.bytes else { return false }
            let headers = preferences[exchange.url] ?? exchange.preferences
            return await fetcher.sends(Fingerprint(bytes), at: url, headers: headers)
        }
        for (index, isSame) in zip(uncertain.map(\.offset), results) { exchanges[index].sharing.isSameForAll = isSame }
    }

    private func checkStatus(_ exchange: HARFile.Exchange) throws(ToolError) {
        switch exchange.status {
        case 200: return
        case ...0: throw ToolError("there was no response: it failed, or was blocked")
        case 204, 205: throw ToolError("its response has no body (\(exchange.status))")
        case 206: throw ToolError("only a part of it was sent (206); load it with \(console.tool.words("add"))")
        case 304: throw ToolError("the browser had it already (304); empty its cache, and record again")
        case 300..<400: throw ToolError("it is a redirect (\(exchange.status))")
        default: throw ToolError("its server answered \(exchange.status)")
        }
    }

    /// Returns true if a URL contains a pattern, in which `*` matches anything.
    private static func matches(_ pattern: String, _ url: String) -> Bool {
        var rest = url[...]
        for part in pattern.split(separator: "*") {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }

    /// Lets entries ignore known cache-busters, unless responses that differ only in these have different bytes.
    private static func stripQueries(_ choices: inout [Choice]) {
        var groups: [String: [(index: Int, pick: SelectedExchange, key: URLPattern, names: [String])]] = [:]
        for (index, choice) in choices.enumerated() {
            guard let pick = try? choice.result.get() else { continue }
            let parameters = CacheBuster.Parameter.list(pick.key.query).filter(CacheBuster.isOne)
            guard let key = pick.key.without(parameters) else { continue }
            groups[key.identityKey, default: []].append((index, pick, key, parameters.map { String($0.name) }))
        }
        for group in groups.values {
            let names = Set(group.flatMap(\.names)).sorted()
            let isSame = group.allSatisfy { $0.pick.hasBody(of: group[0].pick) }
            for (index, var pick, key, own) in group where !names.isEmpty {
                if isSame {
                    (pick.key, pick.ignored) = (key, names)
                } else if !own.isEmpty {
                    pick.remarks.append("keeps its query, because the content depends on it")
                }
                choices[index].result = .success(pick)
            }
        }
    }

    /// Keeps only the last of several exchanges of one URL.
    private static func keepLast(_ choices: inout [Choice]) {
        var last: [String: Int] = [:]
        for index in choices.indices.reversed() {
            guard let pick = try? choices[index].result.get() else { continue }
            guard let later = last[pick.key.identityKey], var kept = try? choices[later].result.get() else {
                last[pick.key.identityKey] = index
                continue
            }
            let remark = "recorded more than once with different content; this is the last"
            if !kept.hasBody(of: pick), !kept.remarks.contains(remark) {
                kept.remarks.append(remark)
                choices[later].result = .success(kept)
            }
            choices[index].result = .failure(ToolError("it was recorded again later"))
        }
    }
}

extension URLPattern {
    /// Returns the URL without some of its parameters; nil if one of their names cannot stand in an entry.
    fileprivate func without(_ parameters: [CacheBuster.Parameter]) -> URLPattern? {
        guard !parameters.isEmpty else { return self }
        // The library reads "*" at the end of a name as any text.
        guard parameters.allSatisfy({ !$0.name.isEmpty && !$0.name.hasSuffix("*") }) else { return nil }
        let dropped = Set(parameters)
        let rest = CacheBuster.Parameter.list(query).filter { !dropped.contains($0) }.map(\.text).joined(separator: "&")
        return try? URLPattern(spelling.prefix { $0 != "?" } + (rest.isEmpty ? "" : "?" + rest))
    }
}

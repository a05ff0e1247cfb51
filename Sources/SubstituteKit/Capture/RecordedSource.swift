import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit
import SubstitutionChecking
import SubstitutionRules

/// The resources of a recording, which was read from a file or made in a browser.
struct RecordedSource: ResourceSource {
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
        /// True to take responses that may be for one person.
        var includesPrivate = false
        /// True to load what an entry answers already.
        var replaces = false
    }

    let isStrict = false
    let lines: [String] = []
    /// The recorded exchanges; nil after the first round, which has all of its resources.
    private var recorded: [HARFile.Exchange]?
    private let filter: Filter
    private let console: Console

    init(_ recorded: [HARFile.Exchange], _ filter: Filter, _ console: Console) {
        (self.recorded, self.filter, self.console) = (recorded, filter, console)
    }

    mutating func next(after taken: [Resource], for addition: Addition, in staging: StagingFolder) async throws
        -> [FoundResource]
    {
        guard let exchanges = recorded else { return [] }
        recorded = nil
        if !exchanges.isEmpty, exchanges.allSatisfy({ !$0.url.lowercased().hasPrefix("http") }) {
            console.printError(
                "The recording has no request to a server: record in the developer tools of the page itself."
            )
        }
        let choices = try await choices(of: exchanges.filter { !$0.isWithoutBody }, in: staging)
        let taken = Set(choices.compactMap { try? $0.result?.get().key.identityKey })
        return choices
            + (try await loads(of: exchanges.filter(\.isWithoutBody), besides: taken, for: addition, in: staging))
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
    /// If several exchanges of one URL can be added, only the page or else the last one is selected.
    private func choices(of exchanges: [HARFile.Exchange], in staging: StagingFolder) async throws -> [FoundResource] {
        var exchanges = exchanges
        if !filter.includesPrivate { await compare(&exchanges, staging) }
        var choices = try exchanges.map { try choice(of: $0, in: staging) }
        // What another frame has loaded, a browser may request again, and get 304.
        let taken = Set(zip(exchanges, choices).filter { $1.resource != nil }.map(\.0.url))
        choices = zip(exchanges, choices).filter { $0.0.status != 304 || !taken.contains($0.0.url) }.map(\.1)
        if filter.stripsQuery { Self.stripQueries(&choices) }
        Self.keepOne(&choices)
        return choices
    }

    /// Decides on an exchange, and writes its body into the staging folder if it is taken.
    private func choice(of exchange: HARFile.Exchange, in staging: StagingFolder) throws -> FoundResource {
        let (key, bytes): (URLPattern, Data)
        do throws(ToolError) {
            (key, bytes) = try pick(exchange)
        } catch {
            return FoundResource(exchange.url, .failure(error))
        }
        let resource = Resource(
            key: key,
            file: try staging.write(bytes),
            type: exchange.typeOfBytes,
            source: URL(fileURLWithPath: "/"),
            version: exchange.version,
            isDecoded: exchange.isDecoded,
            sharing: exchange.sharing,
            isPage: exchange.isPage
        )
        // Some programs record the number of transferred bytes, or the number of characters, as the size.
        let stated = exchange.size.flatMap { $0 == bytes.count ? nil : $0 }
        let remark = stated.map { "the recording states \(counted($0, "byte")), but holds \(bytes.count)" }
        return FoundResource(key.spelling, .success(resource), remarks: [remark].compactMap(\.self))
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

    /// Returns the key and the body of an exchange that is taken.
    private func pick(_ exchange: HARFile.Exchange) throws(ToolError) -> (URLPattern, Data) {
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
        return (key, bytes)
    }

    /// Finds out whether responses to requests with cookies or own fields are the same without these.
    private func compare(_ exchanges: inout [HARFile.Exchange], _ staging: StagingFolder) async {
        let uncertain = exchanges.enumerated().filter { _, exchange in
            var shared = exchange
            shared.sharing.isSameForAll = true
            return exchange.sharing.isUncertain && (try? pick(shared)) != nil
        }
        let results = await Fetcher.inParallel(uncertain.map(\.element), console.network) { exchange, fetcher in
            guard let url = URL(string: exchange.url), let bytes = try? exchange.bytes else { return false }
            let asked = exchange.version.asked ?? [:]
            return await fetcher.sends(Fingerprint(bytes), at: url, headers: asked, staging.newFileURL())
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
    private static func stripQueries(_ choices: inout [FoundResource]) {
        var groups: [String: [(index: Int, resource: Resource, key: URLPattern, names: [String])]] = [:]
        for (index, choice) in choices.enumerated() {
            guard let resource = choice.resource else { continue }
            let parameters = CacheBuster.Parameter.list(resource.key.query).filter(CacheBuster.isOne)
            guard let key = resource.key.without(parameters) else { continue }
            groups[key.identityKey, default: []].append((index, resource, key, parameters.map { String($0.name) }))
        }
        for group in groups.values {
            let names = Set(group.flatMap(\.names)).sorted()
            let isSame = group.allSatisfy { $0.resource.hasBody(of: group[0].resource) }
            for (index, var resource, key, own) in group where !names.isEmpty {
                if isSame {
                    (resource.key, resource.ignored) = (key, names)
                    (choices[index].url, choices[index].result) = (key.spelling, .success(resource))
                } else if !own.isEmpty {
                    choices[index].remarks.append("keeps its query, because the content depends on it")
                }
            }
        }
    }

    /// Keeps only one of several exchanges of one URL: the answer to the request for a page, or else the last one.
    private static func keepOne(_ choices: inout [FoundResource]) {
        let taken = choices.indices.compactMap { index in choices[index].resource.map { (index, $0) } }
        for (_, same) in taken.grouped(by: { $0.1.key.identityKey }) where same.count > 1 {
            guard let (kept, resource) = same.last(where: { $0.1.isPage }) ?? same.last else { continue }
            let others = same.filter { $0.0 != kept }
            if !others.allSatisfy({ resource.hasBody(of: $0.1) }) {
                let words = resource.isPage ? "the page" : "the last"
                choices[kept].remarks.append("recorded more than once with different content; this is \(words)")
            }
            for (other, _) in others {
                let reason = other < kept ? "it was recorded again later" : "it was recorded before, as a page"
                choices[other].result = .failure(ToolError(reason))
            }
        }
    }
}

extension Resource {
    /// Returns true if both resources have the same bytes.
    fileprivate func hasBody(of other: Resource) -> Bool {
        FileManager.default.contentsEqual(atPath: file.path, andPath: other.file.path)
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

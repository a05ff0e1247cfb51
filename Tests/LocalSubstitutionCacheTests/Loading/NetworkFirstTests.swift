import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

/// Every order of events in a load that asks the network first.
@Suite("Decisions of a network-first load")
struct NetworkFirstTests {
    /// The states in which a load can be: its entry is `a` or `b`; no entry, after a refused redirect; the network
    /// answers; it has ended.
    private enum State: Character {
        case a = "a", b = "b", none = "0", network = "n", ended = "."
    }

    /// A row for each event: the state after it, by the state before.
    ///
    /// An exclamation mark says that a file answers, and
    /// a lower hyphen that the app does not learn of the event. `silence a` is the end of `a`'s first patience.
    private static let table = """
        before         a    b    0    n    .
        head 103       a_   b_   0_   n_   ._
        head 200       n    n    n    n    ._
        head 503       .!   n    n    n    ._
        head 404       n    .!   n    n    ._
        part           a_   b_   0_   n    ._
        end            .    .    .    .    ._
        offline        .!   .    .    .    ._
        cancelled      .    .    .    .    ._
        silence a      .!   b_   0_   n_   ._
        silence b      a_   .!   0_   n_   ._
        to b           b    b    0    n_   ._
        to unnamed     a    b    0    n_   ._
        to mapped      .!   .!   0    n_   ._
        refused        0    0    0    n_   ._
        challenge      a    b    0    n    .
        """

    private static let events = table.split(separator: "\n").dropFirst().map { row in
        (String(row.prefix(15)).trimmingCharacters(in: .whitespaces), row.dropFirst(15).split(separator: " "))
    }

    private let folder: TemporaryFolder
    private let cache: SubstitutionCache
    private static let site = "http://127.0.0.1:1/"

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("file", to: "a.txt")
        cache = try folder.cache(
            """
            { "\(Self.site)a": { "file": "a.txt", "when": [503, "offline", "1s"] },
              "\(Self.site)b": { "file": "a.txt", "when": [404, "2s"] }, "\(Self.site)mapped": "a.txt" }
            """
        )
    }

    private func request(_ path: String) throws -> URLRequest {
        URLRequest(url: try #require(URL(string: Self.site + path)))
    }

    private func fallback(_ path: String, _ archive: (any ResponseArchive)? = nil) throws -> Fallback? {
        let request = try request(path)
        return Fallback(for: request, cache.decision(on: request), cache, archive, SessionFields(.ephemeral))
    }

    private func head(_ status: Int) throws -> HTTPURLResponse {
        let url = try #require(URL(string: Self.site))
        return try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil))
    }

    @Test("The table says what happens in every order of up to four events")
    func everyOrder() throws {
        let start = NetworkFirst(try fallback("a"), nil)
        let (first, b) = (try #require(start.patience), try request("b"))
        let heads: [String: HTTPURLResponse] = try ["103", "200", "404", "503"].reduce(into: [:]) {
            $0[$1] = try head(Int($1) ?? 0)
        }
        let targets = ["b": b, "unnamed": try request("unnamed"), "mapped": try request("mapped")]

        /// Reports an event; `!` means that a file answers, `_` that the app does not learn of the event.
        func report(_ event: String, to load: inout NetworkFirst, _ wasAtB: Bool) -> String {
            let words = event.split(separator: " ").map(String.init)
            let decision: NetworkFirst.Decision
            switch words[0] {
            case "head":
                guard let head = heads[words[1]] else { return "no head" }
                decision = load.head(head)
            case "part": return load.part(Data("x".utf8)) ? "" : "_"
            case "end": return load.end() ? "" : "_"
            case "offline": decision = load.failure(URLError(.notConnectedToInternet))
            case "cancelled": decision = load.failure(URLError(.cancelled))
            case "silence":
                // Each redirect to an entry starts a patience, so the timer of the one before means nothing.
                let own = wasAtB ? load.patience : nil
                guard let patience = words[1] == "a" ? first : own else { return "_" }
                decision = load.silence(patience)
            case "to": decision = load.redirect(nil, to: targets[words[1]])
            case "refused": decision = load.redirect(nil, to: nil)
            default:
                load.noteCredential()
                return ""
            }
            switch decision {
            case .passOn: return ""
            case .replace: return "!"
            case .ignore: return "_"
            }
        }

        func explore(_ load: NetworkFirst, _ state: State, _ path: [String]) {
            if path.count == 4 { return }
            for (name, cells) in Self.events {
                let column = ["a", "b", "0", "n", "."].firstIndex(of: state.rawValue) ?? 0
                var (next, cell) = (load, cells[column])
                let mark = report(name, to: &next, state == .b)
                let path = path + [name]
                #expect(cell.dropFirst() == mark, "\(path)")
                guard let after = State(rawValue: cell.removeFirst()) else { continue }
                #expect(next.hasEnded == (after == .ended), "\(path)")
                #expect(next.hasHead == (after == .network), "\(path)")
                explore(next, after, path)
            }
        }
        explore(start, .a, [])
    }

    @Test("While the user is asked for a credential, no file answers after a silence, but after a status")
    func user() throws {
        var load = NetworkFirst(try fallback("a"), nil)
        let patience = try #require(load.patience)
        guard case .passOn = load.challenge(nil) else { throw Unexpected() }
        if case .replace = load.silence(patience) { Issue.record("a file answered") }
        #expect(load.canReplace(after: .status(503)))
    }

    @Test("The user is not asked if a file answers after the status of the challenge, or if the load has ended")
    func challenge() throws {
        for (status, path) in [(503, "a"), (404, "b")] {
            var load = NetworkFirst(try fallback(path), nil)
            let head = try head(status)
            guard case .replace = load.challenge(head), case .ignore = load.challenge(head) else { throw Unexpected() }
            #expect(load.hasEnded)
        }
    }

    private struct Unexpected: Error {}

    /// An archive that notes what a load gives to it.
    private final class Kept: ResponseArchive, ArchivedLoad, @unchecked Sendable {
        var bodies: [Data?] = []
        var refusals: [MissingBody] = []
        var reports: [@Sendable () -> Void] = []
        var mustRead = false
        let keepsNetworkFirst = true

        func accepts(_ request: URLRequest) -> Bool { true }
        func countRefusal(of request: URLRequest) {}
        func begin(_ request: URLRequest, version: Int64) -> any ArchivedLoad { self }
        func copy(after outcome: NetworkOutcome) -> LastGoodCopy? { nil }
        func readCopy(then body: @escaping @Sendable () -> Void) -> Bool {
            if mustRead { reports.append(body) }
            return mustRead
        }
        func receive(_ response: URLResponse?) {}
        func hasRoom(for count: Int) -> Bool { true }
        func refuse(_ reason: MissingBody) { refusals.append(reason) }
        func redirect(_ response: HTTPURLResponse?, to next: URLRequest) {}
        func finish(_ body: Data?) { bodies.append(body) }
        func countUnseen() {}
    }

    @Test("An archive gets a whole body once, and learns if two heads or a challenge came")
    func archive() throws {
        let (kept, head) = (Kept(), try head(200))
        var load = NetworkFirst(try fallback("other", kept), nil)
        _ = load.head(head)
        for part in ["a", "b"] { _ = load.part(Data(part.utf8)) }
        #expect(load.end() && !load.end())
        #expect(kept.bodies == [Data("ab".utf8)] && kept.refusals.isEmpty)
        load = NetworkFirst(try fallback("other", kept), nil)
        for _ in 0..<2 { _ = load.head(head, isPersonal: true) }
        #expect(kept.refusals == [.challenged, .challenged, .incomplete])
        load.stop()
        load.refuse(.unseen)
        #expect(!load.end() && kept.bodies.count == 1 && kept.refusals.count == 3)
    }

    @Test("A silence or failure is reported again once the archive has read its copy, unless the load has a head")
    func reading() throws {
        let kept = Kept()
        var load = NetworkFirst(try fallback("a", kept), nil)
        let patience = try #require(load.patience)
        let offline = URLError(.notConnectedToInternet)
        kept.mustRead = true
        guard case .ignore = load.silence(patience, again: {}), case .ignore = load.failure(offline, again: {}) else {
            throw Unexpected()
        }
        #expect(kept.reports.count == 2 && !load.hasEnded)
        var other = load
        guard case .replace = load.silence(patience), case .replace = other.failure(offline) else { throw Unexpected() }
        load = NetworkFirst(try fallback("a", kept), nil)
        _ = load.head(try head(200))
        guard case .ignore = load.silence(patience, again: {}), case .passOn = load.failure(offline, again: {}) else {
            throw Unexpected()
        }
        #expect(kept.reports.count == 2)
    }
}

import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache

extension InstalledTests {
    /// Tests that force the orders of events that matter to a load in a backing session.
    ///
    /// A test acts as the network: it calls the load's callbacks. The test also acts as URL loading, which may call
    /// `start()` more than once. The fake network sends nothing.
    @Suite("Orders of events in a load of a backing session")
    final class BackingLoadOrderTests: NetworkSuite {
        private let client = RecordingClient()
        /// The task that the network's events are reported for.
        private let task = URLSession.shared.dataTask(with: URLRequest(url: URL(fileURLWithPath: "/")))
        /// The protocols of the loads, which do not retain them.
        private var owners: [SubstitutionURLProtocol] = []
        private let notes = Notes()

        /// Starts a load for `https://h/late`, which has conditions, or for another path.
        private func start(_ path: String = "late", _ archive: OfflineArchive? = nil) throws -> BackingLoad {
            let request = URLRequest(url: try #require(URL(string: "https://h/\(path)")))
            let fallback = try fallback(for: request, archive)
            let owner = SubstitutionURLProtocol(request: request, cachedResponse: nil, client: client)
            owners.append(owner)
            let observed = ObservedLoad(request, of: task, nil, RequestObservers([], notes))
            let load = BackingLoad(for: owner, fallback, in: BackingSession(like: .ephemeral), of: nil, observed)
            load.start()
            return load
        }

        private func fallback(for request: URLRequest, _ archive: OfflineArchive?) throws -> Fallback {
            let cache = try #require(Installation.current?.cache)
            return Fallback(for: request, cache.decision(on: request), cache, archive, SessionFields(.ephemeral))
        }

        private func head(_ status: Int) throws -> HTTPURLResponse {
            let url = try #require(URL(string: "https://h/page"))
            return try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil))
        }

        @Test("A redirect is followed if there is no delegate, and the status after it decides")
        func redirects() throws {
            let (load, calls) = (try start(), Counter())
            let other = URLRequest(url: URL(fileURLWithPath: "/other"))
            load.didRedirect(try head(302), other) { next in
                #expect(next?.url == other.url)
                calls.increment()
            }
            #expect(calls.value == 1)
            load.didReceive(try head(404))
            load.didReceive(Data("network".utf8))
            load.didComplete(task, URLError(.cancelled))
            load.start()
            #expect(client.events == [.head(200), .data(Self.fileText), .end])
            // A recording holds nothing that came after the file had answered.
            #expect(notes.all.filter { $0.contains(": received") || $0.contains(": part") }.count == 1)
        }

        @Test("A stopped load is not kept, even if the network succeeds before the cancellation takes effect")
        func stoppedAndArchived() throws {
            let archive = try installArchive()
            for stops in [true, false] {
                let load = try start("page", archive)
                load.didReceive(try head(200))
                load.didReceive(Data("network".utf8))
                if stops { load.stop() }
                load.didComplete(task, nil)
                #expect(archive.copies.count == (stops ? 0 : 1))
            }
        }

        @Test("The decisions about a long body keep none of it", Platform.measuredOnLinux)
        func flatMemory() throws {
            let request = URLRequest(url: try #require(URL(string: "https://h/late")))
            var first = NetworkFirst(try fallback(for: request, nil), nil)
            _ = first.head(try head(200))
            let before = try residentMemory()
            let parts = (1...200).filter { first.part(Data(repeating: UInt8($0), count: 1_000_000)) }
            #expect(parts.count == 200)
            #expect(try residentMemory() - before < 60_000_000)
        }
    }
}

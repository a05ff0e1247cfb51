import Foundation
import LoopbackServer
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache

extension InstalledTests {
    /// A network-first load uses the protocol class that would load the request if this library were absent.
    @Suite("The app's own protocol classes in network-first loads")
    final class NextProtocolTests: InstalledSuite {
        /// Answers as an app's stub or request signer does: without a network, in parts, and on a separate thread.
        private final class Stub: URLProtocol {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "stub.invalid" }
            override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

            override func startLoading() {
                // Foundation calls no method of this object after the object has reported the end of the load.
                nonisolated(unsafe) let me = self
                Thread.detachNewThread { me.answer() }
            }

            override func stopLoading() {}

            private func answer() {
                guard let url = request.url else { return }
                guard let status = Int(url.lastPathComponent) else {
                    let code = URLError.Code.notConnectedToInternet
                    let isObjectiveC = url.lastPathComponent == "lost"
                    client?.urlProtocol(
                        self,
                        didFailWithError: isObjectiveC
                            ? NSError(domain: NSURLErrorDomain, code: code.rawValue) : URLError(code)
                    )
                    return
                }
                guard let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
                else { return }
                client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
                client?.urlProtocol(self, didLoad: Data("from the stub".utf8))
                client?.urlProtocolDidFinishLoading(self)
            }
        }

        /// Returns a session that uses substitutions, and lists the app's own class.
        private func session(
            _ stub: AnyClass,
            _ delegate: (any URLSessionDelegate)? = StrictClient(),
            registered: Bool = true
        ) -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [stub] + (configuration.protocolClasses ?? [])
            return .using(configuration, delegate: delegate, registered: registered)
        }

        @Test("A stub answers first, and then the condition decides", arguments: TaskKind.receiving, [false, true])
        func stub(kind: TaskKind, named isNamed: Bool) async throws {
            let entries = ["200", "503", "gone", "lost"].map {
                "\"http://stub.invalid/\($0)\": { \"file\": \"a.txt\", \"when\": [\"offline\", 503] }"
            }
            try folder.cache("{ \(entries.joined(separator: ", ")) }").install()
            for delegate in kind == .delegate ? [StrictClient()] : [StrictClient(), nil] {
                let session = session(Stub.self, delegate, registered: isNamed)
                for _ in 0..<(Program.isLongRun ? 20 : 3) {
                    for path in ["200", "503", "gone", "lost"] {
                        let url = try #require(URL(string: "http://stub.invalid/\(path)"))
                        let (_, data) = try await kind.load(URLRequest(url: url), in: session)
                        #expect(data == Data((path == "200" ? "from the stub" : Self.fileText).utf8), "\(path)")
                    }
                }
            }
        }

        /// Never answers, and counts its starts, and those without a stop since the last start.
        private final class PausingStub: URLProtocol {
            static let (starts, doubleStarts) = (Counter(), Counter())
            // URL loading starts and stops an instance on one queue.
            private var isLoading = false

            override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "pause.invalid" }
            override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

            override func startLoading() {
                Self.starts.increment()
                if isLoading { Self.doubleStarts.increment() }
                isLoading = true
            }

            override func stopLoading() { isLoading = false }
        }

        @Test("A stub whose task is suspended and resumed is stopped before it is started again")
        func paused() async throws {
            try folder.cache("{ \"http://pause.invalid/\": { \"file\": \"a.txt\", \"when\": 503 } }").install()
            let session = session(PausingStub.self, registered: false)
            let url = try #require(URL(string: "http://pause.invalid/"))
            for round in 0..<(Program.isLongRun ? 50 : 15) {
                let task = session.dataTask(with: url)
                task.resume()
                try await wait(for: "the first start") { PausingStub.starts.value == 2 * round + 1 }
                task.suspend()
                task.resume()
                try await wait(for: "the second start") { PausingStub.starts.value == 2 * round + 2 }
                task.cancel()
            }
            #expect(PausingStub.doubleStarts.value == 0)
        }

        @Test("An archive keeps a stub's answers, and a file without conditions does not call the stub")
        func archived() async throws {
            let archive = try makeArchive()
            try folder.cache("{ \"http://stub.invalid/503\": \"a.txt\" }").install(archive: archive)
            let session = session(Stub.self)
            let urls = try ["200", "503"].map { try #require(URL(string: "http://stub.invalid/\($0)")) }
            let (_, page) = try await TaskKind.delegate.load(URLRequest(url: urls[0]), in: session)
            #expect(page == Data("from the stub".utf8))
            let (_, file) = try await TaskKind.delegate.load(URLRequest(url: urls[1]), in: session)
            #expect(file == Data(Self.fileText.utf8))
            #expect(archive.copies.map(\.url) == [urls[0]])
        }

        // Only macOS and Linux can start processes.
        #if os(macOS) || os(Linux)
        @Test("An archive collects a body in parts in linear time", Platform.measuredOnLinux)
        func linear() async {
            // This runs in a separate process, because `clock()` would also count the processor time of other tests.
            await #expect(processExitsWith: .success) { try await NextProtocolTests().collectBodies() }
        }

        @Test(
            "The shared session uses a class that is registered before install(), and none that is registered later",
            Platform.measuredOnLinux,
            arguments: [true, false]
        )
        func registeredStub(isFirst: Bool) async {
            // The shared session of this process is in use already.
            await #expect(processExitsWith: .success) { [isFirst = isFirst as Bool] in
                let folder = try TemporaryFolder()
                if isFirst { _ = URLProtocol.registerClass(Stub.self) }
                try folder.cache("{}").install()
                if !isFirst { _ = URLProtocol.registerClass(Stub.self) }
                let url = try #require(URL(string: "http://stub.invalid/200"))
                let data = try? await URLSession.shared.data(from: url).0
                try #require(data == (isFirst ? Data("from the stub".utf8) : nil))
            }
        }
        #endif

        /// Answers with as many parts of 4 KB as the last component of the URL says.
        private final class PartsStub: URLProtocol {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "parts.invalid" }
            override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

            override func startLoading() {
                guard let url = request.url, let count = Int(url.lastPathComponent),
                    let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
                else { return }
                client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
                let part = Data(repeating: 97, count: 4096)
                for _ in 0..<count { client?.urlProtocol(self, didLoad: part) }
                client?.urlProtocolDidFinishLoading(self)
            }

            override func stopLoading() {}
        }

        private func collectBodies() async throws {
            let archive = try makeArchive(capacity: 100_000_000)
            try folder.cache("{}").install(archive: archive)
            let session = session(PartsStub.self)
            func time(_ parts: Int) async throws -> Double {
                let begin = clock()
                let url = try #require(URL(string: "http://parts.invalid/\(parts)"))
                _ = try await TaskKind.delegate.load(URLRequest(url: url), in: session)
                archive.directory.queue.sync {}
                return Double(clock() - begin)
            }
            _ = try await time(500)
            // If each new part caused a copy of all parts before it, a body eight times as long would cost 64 times as
            // much.
            let (short, long) = try await (time(800), time(6400))
            #expect(archive.copies.count == 3)
            #expect(long < 25 * short, "\(long / short) times")
        }

        @Test("A stub that the app lists first stays first when its session is registered", Platform.measuredOnLinux)
        func stubFirst() async throws {
            try folder.cache("{ \"http://stub.invalid/200\": \"a.txt\", \"http://other.invalid/\": \"a.txt\" }")
                .install()
            for isListed in [true, false] {
                let configuration = URLSessionConfiguration.ephemeral
                if isListed { configuration.useSubstitutions() }
                configuration.protocolClasses = [Stub.self] + (configuration.protocolClasses ?? [])
                let session = URLSession(configuration: configuration, delegate: StrictClient(), delegateQueue: nil)
                try session.registerForSubstitutions()
                for (url, text) in ["http://stub.invalid/200": "from the stub", "http://other.invalid/": Self.fileText]
                {
                    let request = URLRequest(url: try #require(URL(string: url)))
                    let (_, data) = try await TaskKind.delegate.load(request, in: session)
                    #expect(data == Data(text.utf8))
                }
            }
        }
    }
}

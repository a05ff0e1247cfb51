import Foundation
import LoopbackServer
import TestSupport
import Testing

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

extension InstalledTests {
    /// Behind a condition, the class is asked that would be asked without this library.
    @Suite("The app's own protocol classes behind a condition")
    final class NextProtocolTests: InstalledSuite {
        /// Answers without a network, in parts, and on a thread of its own, as stubs and signers do.
        private final class Stub: URLProtocol {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "stub.invalid" }
            override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

            override func startLoading() {
                // Foundation calls no method of this object after it has been told the end.
                nonisolated(unsafe) let me = self
                Thread.detachNewThread { me.answer() }
            }

            override func stopLoading() {}

            private func answer() {
                guard let url = request.url else { return }
                guard let status = Int(url.lastPathComponent) else {
                    client?.urlProtocol(self, didFailWithError: URLError(.notConnectedToInternet))
                    return
                }
                guard let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
                else { return }
                client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
                client?.urlProtocol(self, didLoad: Data("from the stub".utf8))
                client?.urlProtocolDidFinishLoading(self)
            }
        }

        @Test("A stub answers, and then the condition decides", arguments: TaskKind.receiving, [false, true])
        func stub(kind: TaskKind, named isNamed: Bool) async throws {
            let entries = ["200", "503", "gone"].map {
                "\"http://stub.invalid/\($0)\": { \"file\": \"a.txt\", \"when\": [\"offline\", 503] }"
            }
            try folder.cache("{ \(entries.joined(separator: ", ")) }").install()
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [Stub.self] + (configuration.protocolClasses ?? [])
            configuration.useSubstitutions()
            for delegate in kind == .delegate ? [Collector()] : [Collector(), nil] {
                let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
                if isNamed { session.registerForSubstitutions() }
                for _ in 0..<20 {
                    for path in ["200", "503", "gone"] {
                        let url = try #require(URL(string: "http://stub.invalid/\(path)"))
                        let (_, data) = try await kind.load(URLRequest(url: url), in: session)
                        #expect(data == Data((path == "200" ? "from the stub" : Self.fileText).utf8), "\(path)")
                    }
                }
            }
        }

        @Test("What a stub answers is kept by an archive, and a file without a condition needs no stub")
        func archived() async throws {
            let archive = try makeArchive()
            try folder.cache("{ \"http://stub.invalid/503\": \"a.txt\" }").install(archive: archive)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [Stub.self] + (configuration.protocolClasses ?? [])
            configuration.useSubstitutions()
            let session = URLSession(configuration: configuration, delegate: Collector(), delegateQueue: nil)
            let urls = try ["200", "503"].map { try #require(URL(string: "http://stub.invalid/\($0)")) }
            let (_, page) = try await TaskKind.delegate.load(URLRequest(url: urls[0]), in: session)
            #expect(page == Data("from the stub".utf8))
            let (_, file) = try await TaskKind.delegate.load(URLRequest(url: urls[1]), in: session)
            #expect(file == Data(Self.fileText.utf8))
            #expect(archive.copies.map(\.url) == [urls[0]])
        }

        // iOS and its relatives start no processes.
        #if os(macOS) || os(Linux)
        @Test("An archive collects a body in parts in linear time", Platform.measuredOnLinux)
        func linear() async {
            // In a process of its own: the time of other tests' threads would count.
            await #expect(processExitsWith: .success) { try await NextProtocolTests().collectBodies() }
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
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [PartsStub.self]
            configuration.useSubstitutions()
            let session = URLSession(configuration: configuration, delegate: Collector(), delegateQueue: nil)
            func time(_ parts: Int) async throws -> Double {
                let begin = clock()
                let url = try #require(URL(string: "http://parts.invalid/\(parts)"))
                _ = try await TaskKind.delegate.load(URLRequest(url: url), in: session)
                archive.waitUntilWritten()
                return Double(clock() - begin)
            }
            _ = try await time(500)
            // Eight times as long a body would cost 64 times as much if each part copied what came before it.
            let (short, long) = try await (time(800), time(6400))
            #expect(archive.copies.count == 3)
            #expect(long < 25 * short, "\(long / short) times")
        }

        @Test("A stub that the app put first stays first when its session is named", Platform.measuredOnLinux)
        func stubFirst() async throws {
            try folder.cache("{ \"http://stub.invalid/200\": \"a.txt\", \"http://other.invalid/\": \"a.txt\" }")
                .install()
            for isListed in [true, false] {
                let configuration = URLSessionConfiguration.ephemeral
                if isListed { configuration.useSubstitutions() }
                configuration.protocolClasses = [Stub.self] + (configuration.protocolClasses ?? [])
                let session = URLSession(configuration: configuration, delegate: Collector(), delegateQueue: nil)
                session.registerForSubstitutions()
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

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
    @Suite("The protocol, and the app's own protocol classes behind it")
    final class ProtocolTests: InstalledSuite {
        @Test("A response from the session's cache does not count; the table and the request decide")
        func handedOver() async throws {
            let manifest = folder.url.appendingPathComponent("manifest.json")
            try folder.write("{ \"\(request.url?.absoluteString ?? "")\": \"a.txt\" }", to: "manifest.json")
            let cache = try SubstitutionCache(manifest: manifest)
            cache.install()
            let old = try #require(cache.cachedResponse(for: request))
            let foreign = CachedURLResponse(response: old.response, data: Data("foreign".utf8))
            try folder.write("newer", to: "a.txt")
            try cache.reload()
            let current = try #require(cache.cachedResponse(for: request))
            for handedOver in [old, foreign, current] {
                let configuration = URLSessionConfiguration.ephemeral
                configuration.urlCache = HookCache { _ in handedOver }
                let session = URLSession.using(configuration)
                #expect(try await session.data(for: request).0 == Data("newer".utf8))
                #expect(try await session.data(for: request.with(["Range": "bytes=1-2"])).0 == Data("ew".utf8))
                #expect(try await session.data(for: request.with([:], "HEAD")).0.isEmpty)
            }
        }

        @Test("A task that is suspended and resumed is answered once")
        func suspended() async throws {
            let session = URLSession.using()
            for _ in 0..<10 {
                let (data, _) = try await session.result(of: request) { task in
                    task.suspend()
                    // On Linux, if a task is resumed at the moment when it finishes, the process crashes, even without
                    // this library.
                    await session.settle()
                    task.resume()
                }
                #expect(data == Data(Self.fileText.utf8))
            }
        }

        @Test("A task that is cancelled at once ends with the usual error, or with its answer")
        func cancelled() async throws {
            let (session, request) = (URLSession.using(), request)
            try await onThread {
                for round in 0..<(Program.isLongRun ? 2000 : 300) {
                    let end = DispatchSemaphore(value: 0)
                    let task = session.dataTask(with: request) { _, _, error in
                        if let error { #expect((error as? URLError)?.code == .cancelled) }
                        end.signal()
                    }
                    task.resume()
                    usleep(UInt32(round % 100))
                    task.cancel()
                    end.wait()
                }
            }
        }

        @Test("A large file is delivered in one piece, without a copy")
        func large() async throws {
            let bytes = Data(repeating: 97, count: 5_000_000)
            try folder.write(bytes, to: "large.bin")
            let url = server.url.appendingPathComponent("large.bin")
            let cache = try folder.cache("{ \"\(url.absoluteString)\": \"large.bin\" }")
            cache.install()
            let (data, _) = try await URLSession.using().data(from: url)
            #expect(data == bytes)
            let prepared = try #require(cache.cachedResponse(for: URLRequest(url: url)))
            let starts = [data, prepared.data].map { $0.withUnsafeBytes { $0.baseAddress } }
            #expect(starts[0] == starts[1])
        }

        @Test("While caches are installed and reloaded, each load gets the file or the network's answer, and ends")
        func changingMeanwhile() async throws {
            let (request, manifest) = (request, folder.url.appendingPathComponent("manifest.json"))
            let text = "{ \"\(request.url?.absoluteString ?? "")\": \"a.txt\" }"
            let manifests = [text, "{}"].map { Data($0.utf8) }
            try manifests[0].write(to: manifest)
            let caches = [try SubstitutionCache(manifest: manifest), try folder.cache(text)]
            let isDone = Flag()
            async let changes: Void = onThread {
                var round = 0
                while !isDone.isSet {
                    round += 1
                    caches[round % 2].install()
                    try? manifests[round / 2 % 2].write(to: manifest, options: .atomic)
                    try? caches[0].reload()
                }
            }
            let session = URLSession.using()
            var seen: Set<Data> = []
            for _ in 0..<(Program.isLongRun ? 20 : 2) {
                await withTaskGroup(of: Data?.self) { group in
                    for _ in 0..<100 { group.addTask { try? await TaskKind.completion.load(request, in: session).1 } }
                    for await data in group { seen.insert(data ?? Data("an error".utf8)) }
                }
            }
            isDone.set()
            try await changes
            #expect(seen.isSubset(of: [Data(Self.fileText.utf8), Data(Self.networkText.utf8)]))
        }

        @Test("With a completion handler, the protocol gives the answers of the table", Platform.measuredOnLinux)
        func answers() async throws {
            let hosts = Locked(AppRequest.Hosts(here: "", there: "", gone: ""))
            let here = try LoopbackServer { AppRequest.respond($0.path, hosts.value) }
            let there = try LoopbackServer { AppRequest.respond($0.path, hosts.value) }
            let gone = try LoopbackServer { _ in .text("") }
            gone.stop()
            defer { for server in [here, there] { server.stop() } }
            let all = [here, there, gone].map(\.url.absoluteString)
            // The servers' addresses are known only once the servers run.
            _ = hosts.replace(with: AppRequest.Hosts(here: all[0], there: all[1], gone: all[2]))
            for file in AppRequest.files { try folder.write("file \(file)", to: file) }
            try folder.cache(hosts.value.manifest).install()
            let sessions = [URLSession.shared, .using(.default), .using(.ephemeral)]
            for row in AppRequest.all {
                let url = try #require(URL(string: row.url(hosts.value)))
                let request = URLRequest(url: url).with(row.fields, row.method)
                for session in sessions {
                    let head = try await TaskKind.completion.load(request, in: session).0
                    let answer = AppRequest.answer(status: head.statusCode) { head.value(forHTTPHeaderField: $0) }
                    #expect(answer == row.answer, "\(row)")
                }
            }
        }

        /// Answers as an app's stub or request signer does: without a network, in parts, and on a separate thread.
        private final class Stub: URLProtocol {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "stub.invalid" }
            override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

            static let (starts, doubleStarts) = (Counter(), Counter())
            // URL loading starts and stops an instance on one queue.
            private var isLoading = false

            override func startLoading() {
                if isLoading { Self.doubleStarts.increment() }
                isLoading = true
                if request.url?.lastPathComponent == "never" { return Self.starts.increment() }
                // Foundation calls no method of this object after the object has reported the end of the load.
                nonisolated(unsafe) let me = self
                Thread.detachNewThread { me.answer() }
            }

            override func stopLoading() { isLoading = false }

            /// Sends the status that the URL ends with, and as many parts of 4 KB as its query says, or fails.
            private func answer() {
                guard let url = request.url else { return }
                guard let status = Int(url.lastPathComponent) else {
                    let code = URLError.Code.notConnectedToInternet
                    let foreign = NSError(domain: NSURLErrorDomain, code: code.rawValue)
                    let error: any Error = url.lastPathComponent == "lost" ? foreign : URLError(code)
                    client?.urlProtocol(self, didFailWithError: error)
                    return
                }
                guard let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
                else { return }
                client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
                let count = url.query.flatMap { Int($0) }
                let part = count == nil ? Data("from the stub".utf8) : Data(repeating: 97, count: 4096)
                for _ in 0..<(count ?? 1) { client?.urlProtocol(self, didLoad: part) }
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
            let urls = ["200", "503", "gone", "lost"].map { "http://stub.invalid/\($0)" }
            try folder.cache(networkFirst(urls, when: "[\"offline\", 503]")).install()
            for delegate in kind == .delegate ? [StrictClient()] : [StrictClient(), nil] {
                let session = session(Stub.self, delegate, registered: isNamed)
                for url in Array(repeating: urls, count: Program.isLongRun ? 20 : 1).joined() {
                    let (_, data) = try await kind.load(URLRequest(url: try #require(URL(string: url))), in: session)
                    #expect(data == Data((url == urls[0] ? "from the stub" : Self.fileText).utf8), "\(url)")
                }
            }
        }

        @Test("A stub whose task is suspended and resumed is stopped before it is started again")
        func paused() async throws {
            try folder.cache(networkFirst(["http://stub.invalid/never"], when: "503")).install()
            let session = session(Stub.self, registered: false)
            let url = try #require(URL(string: "http://stub.invalid/never"))
            for round in 0..<(Program.isLongRun ? 50 : 5) {
                let task = session.dataTask(with: url)
                task.resume()
                try await wait(for: "the first start") { Stub.starts.value == 2 * round + 1 }
                task.suspend()
                task.resume()
                try await wait(for: "the second start") { Stub.starts.value == 2 * round + 2 }
                task.cancel()
            }
            #expect(Stub.doubleStarts.value == 0)
        }

        @Test("A stub that is listed first stays first, and one behind gets no file's URL", Platform.measuredOnLinux)
        func stubFirst() async throws {
            let archive = try makeArchive()
            let manifest = "{ \"http://stub.invalid/503\": \"a.txt\", \"http://other.invalid/\": \"a.txt\" }"
            try folder.cache(manifest).install(archive: archive)
            func text(_ path: String, in session: URLSession) async throws -> String {
                let request = URLRequest(url: try #require(URL(string: "http://\(path)")))
                return try await String(decoding: TaskKind.delegate.load(request, in: session).1, as: UTF8.self)
            }
            let behind = session(Stub.self)
            #expect(try await text("stub.invalid/200", in: behind) == "from the stub")
            #expect(try await text("stub.invalid/503", in: behind) == Self.fileText)
            #expect(archive.copies.map(\.url.lastPathComponent) == ["200"])
            for isListed in [true, false] {
                let configuration = URLSessionConfiguration.ephemeral
                if isListed { configuration.useSubstitutions() }
                configuration.protocolClasses = [Stub.self] + (configuration.protocolClasses ?? [])
                let session = URLSession.named(configuration, delegate: StrictClient())
                #expect(try await text("stub.invalid/503", in: session) == "from the stub")
                #expect(try await text("other.invalid/", in: session) == Self.fileText)
            }
        }

        // Only macOS and Linux can start processes.
        #if os(macOS) || os(Linux)
        @Test("An archive collects a body in parts in linear time", Platform.measuredOnLinux)
        func linear() async {
            // This runs in a separate process, because `clock()` would also count the processor time of other tests.
            await #expect(processExitsWith: .success) { try await ProtocolTests().collectBodies() }
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

        private func collectBodies() async throws {
            let archive = try makeArchive(capacity: 100_000_000)
            try folder.cache("{}").install(archive: archive)
            let session = session(Stub.self)
            func time(_ parts: Int) async throws -> Double {
                let begin = clock()
                let url = try #require(URL(string: "http://stub.invalid/200?\(parts)"))
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
    }
}

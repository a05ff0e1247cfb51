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

/// Tests that force events between `canInit(with:)` and `startLoading()`, or while a body is received.
///
/// A session asks its cache between these two calls, and ``HookCache`` then runs the test's code. While a body is
/// received, the test itself cancels or suspends the task.
extension InstalledTests {
    @Suite("Orders of events in sessions")
    final class OrderTests: InstalledSuite {
        /// Returns a session that uses substitutions, and that runs `body` once for each task, before `startLoading()`.
        private func session(between body: @escaping @Sendable (URLSessionDataTask) -> Void) -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.useSubstitutions()
            configuration.urlCache = HookCache { task in
                body(task)
                return nil
            }
            return URLSession(configuration: configuration)
        }

        private func text(_ request: URLRequest, in session: URLSession) async throws -> String {
            try await String(decoding: session.data(for: request).0, as: UTF8.self)
        }

        /// The manifest's entry for the request's URL.
        enum Entry: String {
            case none
            case file
            case networkFirst

            func manifest(for request: URLRequest) -> Data {
                let url = request.url?.absoluteString ?? ""
                return switch self {
                case .none: Data("{}".utf8)
                case .file: Data("{ \"\(url)\": \"a.txt\" }".utf8)
                case .networkFirst: Data("{ \"\(url)\": { \"file\": \"a.txt\", \"when\": 503 } }".utf8)
                }
            }
        }

        @Test(
            "If a reload changes the entry between canInit and startLoading, the new entry decides",
            arguments: [(Entry.file, Entry.none, false), (.file, .networkFirst, false), (.networkFirst, .file, true)]
        )
        func reloadBetween(before: Entry, after: Entry, isFile: Bool) async throws {
            let manifest = folder.url.appendingPathComponent("manifest.json")
            try before.manifest(for: request).write(to: manifest)
            let cache = try SubstitutionCache(manifest: manifest)
            cache.install()
            let changed = after.manifest(for: request)
            let session = session { _ in
                try? changed.write(to: manifest)
                try? cache.reload()
            }
            #expect(try await text(request, in: session) == (isFile ? Self.fileText : Self.networkText))
            #expect(server.requests.count == (isFile ? 0 : 1))
        }

        @Test(
            "If another cache, or none, is installed between canInit and startLoading, that one decides",
            arguments: [true, false]
        )
        func installedBetween(isOther: Bool) async throws {
            let other = try folder.cache("{}")
            let cache = cache
            let session = session { _ in
                if isOther { other.install() } else { cache.uninstall() }
            }
            #expect(try await text(request, in: session) == Self.networkText)
        }

        @Test(
            "A task that is cancelled between canInit and startLoading ends once, as cancelled",
            arguments: [true, false]
        )
        func cancelledBetween(isNamed: Bool) async throws {
            let session = session { $0.cancel() }
            var load = request
            if !isNamed {
                try folder.cache("{ \"\(request.url?.absoluteString ?? "")\": { \"file\": \"a.txt\", \"when\": 503 } }")
                    .install()
                load.timeoutInterval = 300
            }
            let (data, error) = try await session.result(of: load) { _ in }
            #expect((error as? URLError)?.code == .cancelled && data == nil)
        }

        @Test("A task that is cancelled between head and body received only network bytes, and ends once")
        func cancelledWhileBodyArrives() async throws {
            let site = try Site(folder, when: "[\"offline\", 503]") { _ in
                .init(body: Data(repeating: 97, count: 100_000), transfer: .stalling(after: 50_000))
            }
            defer { site.server.stop() }
            for conditions in ["\"offline\"", "[\"offline\", 503]"] {
                try folder.cache(
                    "{ \"\(site.request.url?.absoluteString ?? "")\": { \"file\": \"a.txt\", \"when\": \(conditions) } }"
                ).install()
                let recorder = Recorder()
                let session = URLSession.named(site.session.configuration, delegate: recorder)
                site.server.forgetRequests()
                let task = session.dataTask(with: site.request)
                task.resume()
                await site.server.waitForRequests(1)
                if conditions == "\"offline\"" { await recorder.waitForData() }
                task.cancel()
                #expect(await recorder.end() == .cancelled)
                await session.settle()
                #expect(recorder.heads.count <= 1)
                #expect(recorder.heads.allSatisfy { $0.value(forHTTPHeaderField: "Cache-Status") == nil })
                #expect(recorder.data.allSatisfy { $0 == 97 })
                #expect(recorder.ends == 1)
            }
        }
    }
}

/// A delegate that records every event of one task.
// Mutable state is only accessed inside the lock.
final class Recorder: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var state = (heads: [HTTPURLResponse](), data: Data(), ends: 0, error: URLError.Code?.none)

    var heads: [HTTPURLResponse] { lock.withLock { state.heads } }
    var data: Data { lock.withLock { state.data } }
    var ends: Int { lock.withLock { state.ends } }

    func waitForData() async {
        while data.isEmpty { try? await Task.sleep(nanoseconds: 1_000_000) }
    }

    /// Waits for the task's end, and returns the error's code; nil if the task succeeded.
    func end() async -> URLError.Code? {
        while ends == 0 { try? await Task.sleep(nanoseconds: 1_000_000) }
        return lock.withLock { state.error }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        lock.withLock { if let head = response as? HTTPURLResponse { state.heads.append(head) } }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        lock.withLock { state.data += data }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        lock.withLock {
            state.ends += 1
            state.error = (error as? URLError)?.code
        }
    }
}

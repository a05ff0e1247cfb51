import Foundation
import LoopbackServer
import SubstitutionRules
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache

/// A response has one source: with any combination of delegates, no network bytes precede the bytes of the file.
extension InstalledTests {
    @Suite("A response has one source")
    final class OneSourceTests: InstalledSuite {
        enum SessionDelegate: String, CaseIterable {
            case none
            case data
            case redirects
        }

        /// The task's own delegate.
        enum TaskDelegate: String, CaseIterable {
            case none
            case plain
            case redirects
            case data
        }

        /// The way in which the app receives the response.
        enum Receiver: String, CaseIterable {
            case handler
            case delegate
            /// `data(for:delegate:)`, whose second argument is the task's delegate.
            case async
        }

        /// The network's behaviour in a load, and the kind of entry or archive that applies to the URL.
        enum Way: String, CaseIterable {
            case status
            case redirectToNamed
            case redirectWhenOffline
            case redirectWithArchive
            case broken

            var path: String { self == .status ? "status" : self == .broken ? "broken" : "moved" }

            var conditions: String? {
                switch self {
                case .status: "503"
                case .redirectToNamed: "418"
                case .redirectWhenOffline, .broken: "\"offline\""
                case .redirectWithArchive: nil
                }
            }
        }

        private final class Plain: NSObject, URLSessionTaskDelegate {}

        /// A delegate that notes the bytes that it receives.
        private final class Recorder: NSObject, URLSessionDataDelegate {
            private let received = Locked(Data())

            var data: Data { received.value }

            func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
                received.withLock { $0 += data }
            }
        }

        private struct Load {
            let receiver: Receiver
            let session: SessionDelegate
            let task: TaskDelegate
            let isNamed: Bool
        }

        private static let body = Data(String(repeating: "NETWORK", count: 3000).utf8)

        @Sendable private static func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
            switch request.path {
            case "/status": .init(status: 503, body: body, transfer: .chunked(100))
            case "/moved": .init(status: 302, headers: ["Location": "/named"], body: body)
            case "/broken": .init(body: body, transfer: .stalling(after: 10_000))
            default: .init(body: body, transfer: .chunked(100))
            }
        }

        /// Loads a request, and returns the bytes that each receiver in the app got.
        ///
        /// The receivers are the caller that waits for the whole body, the session's delegate, and the task's delegate.
        private static func received(_ request: URLRequest, _ load: Load) async throws -> [Data] {
            let (recorder, ownRecorder) = (Recorder(), Recorder())
            let delegate: (any URLSessionDelegate)? =
                switch load.session {
                case .none: nil
                case .data: recorder
                case .redirects: RedirectDelegate.follow
                }
            let own: (any URLSessionTaskDelegate)? =
                switch load.task {
                case .none: nil
                case .plain: Plain()
                case .redirects: RedirectDelegate.follow
                case .data: ownRecorder
                }
            let session = URLSession.using(delegate: delegate, registered: load.isNamed)
            var whole = Data()
            switch load.receiver {
            case .async:
                whole = (try? await session.data(for: request, delegate: own).0) ?? Data()
            case .handler:
                whole = await withCheckedContinuation { continuation in
                    let task = session.dataTask(with: request) { data, _, _ in
                        continuation.resume(returning: data ?? Data())
                    }
                    if let own { task.delegate = own }
                    task.resume()
                }
            case .delegate:
                let task = session.dataTask(with: request)
                if let own { task.delegate = own }
                task.resume()
                // Foundation does not tell every one of these delegates that the task has ended, so poll the task's
                // state.
                while task.state != .completed { try await Task.sleep(nanoseconds: 1_000_000) }
            }
            await session.settle()
            return [whole, recorder.data, ownRecorder.data]
        }

        /// Returns the source of some bytes: nothing, the file, the network, or a mix.
        private static func source(of data: Data) -> String {
            if data.isEmpty { return "nothing" }
            if data == Data(fileText.utf8) { return "file" }
            return body.starts(with: data) ? "network" : "mixed: \(String(decoding: data.suffix(80), as: UTF8.self))"
        }

        @Test("No receiver gets bytes of two sources, and the delegates decide who answers", arguments: Way.allCases)
        func oneSource(way: Way) async throws {
            let server = try LoopbackServer(Self.answer)
            defer { server.stop() }
            let url = server.url.appendingPathComponent(way.path)
            let named = "\"\(server.url.absoluteString)/named\": \"a.txt\""
            let entry = way.conditions.map { ", \"\(url.absoluteString)\": { \"file\": \"a.txt\", \"when\": \($0) }" }
            let archive = try makeArchive()
            try folder.cache("{ \(named)\(entry ?? "") }").install(archive: way == .redirectWithArchive ? archive : nil)
            var request = URLRequest(url: url)
            // The body of `broken` stalls after its first bytes. A second is usually enough to receive these bytes.
            request.timeoutInterval = way == .broken ? 1 : 300
            let sent = request
            try await withThrowingTaskGroup(of: (Load, [Data]).self) { group in
                for receiver in Receiver.allCases {
                    for session in SessionDelegate.allCases {
                        for (task, isNamed) in TaskDelegate.allCases.flatMap({ [($0, false), ($0, true)] }) {
                            let load = Load(receiver: receiver, session: session, task: task, isNamed: isNamed)
                            group.addTask { (load, try await Self.received(sent, load)) }
                        }
                    }
                }
                for try await (load, received) in group {
                    let sources = Set(received.map(Self.source)).subtracting(["nothing"])
                    #expect(sources.isSubset(of: ["file"]) || sources.isSubset(of: ["network"]), "\(load): \(sources)")
                    // The documentation describes these results on Linux.
                    guard way == .status, Platform.isLinux else { continue }
                    let expected =
                        switch load.receiver {
                        case .handler: "file"
                        case .async: load.task == .none ? "file" : "network"
                        case .delegate: load.session == .data ? "network" : "nothing"
                        }
                    #expect(Self.source(of: received[load.receiver == .delegate ? 1 : 0]) == expected, "\(load)")
                }
            }
        }
    }
}

import Foundation
import FoundationNetworking
import LoopbackServer
import TestSupport
import Testing

@testable import LocalSubstitutionCache

extension InstalledTests {
    /// Streamed and slow network-first loads in a registered session.
    @Suite("Streams in registered sessions", .everyLoadingMode)
    final class RegisteredStreamTests: ServerSuite {
        private func install(_ server: LoopbackServer, _ paths: [String]) throws {
            let entries = paths.map {
                "\"\(server.url.absoluteString)/\($0)\": { \"file\": \"a.txt\", \"when\": [\"offline\", 503] }"
            }
            try install("{ \(entries.joined(separator: ", ")) }")
        }

        @Test("Each server-sent event reaches the client before the next one is sent")
        func events() async throws {
            let (sent, parts) = (Counter(), Counter())
            let count = Program.isLongRun ? 600 : 60
            let server = try LoopbackServer { _ in
                .stream {
                    while parts.value < sent.value { usleep(1000) }
                    guard sent.value < count else { return nil }
                    if Program.isLongRun { usleep(100_000) }
                    sent.increment()
                    return Data("id: \(sent.value)\n\n".utf8)
                }
            }
            defer { server.stop() }
            try install(server, ["events"])
            let client = StrictClient(onData: { _ in parts.increment() })
            let session = client.session()
            let load = await client.load(session.dataTask(with: request("events", of: server)))
            #expect(load.error == nil)
            // Some clients treat each part as one message.
            #expect(parts.value == count)
            #expect(load.text == (1...count).map { "id: \($0)\n\n" }.joined())
            #expect(client.complaints == [])
        }

        // Only macOS and Linux can start processes.
        #if os(macOS) || os(Linux)
        @Test("A long body passes through without staying in memory", Platform.measuredOnLinux)
        func flatMemory() async {
            // This runs in a separate process, because other tests use memory, too.
            await #expect(processExitsWith: .success) { [mode = LoadingMode.current as LoadingMode] in
                LoadingMode.current = mode
                try await RegisteredStreamTests().passLongBodies()
            }
        }
        #endif

        /// Loads long bodies, and measures how the memory of the process grows.
        private func passLongBodies() async throws {
            let parts = Program.isLongRun ? 500 : 100
            let megabyte = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
            let received = Counter()
            let server = try LoopbackServer { _ in
                let sent = Counter()
                return .stream {
                    // Send no faster than the client reads. If the server were faster, the client's queue would fill.
                    while received.value < sent.value * megabyte.count { usleep(100) }
                    sent.increment()
                    return sent.value <= parts ? megabyte : nil
                }
            }
            defer { server.stop() }
            try install(server, ["long"])
            // The first load is not network-first. It shows the memory that the server and an ordinary load need.
            for path in ["other", "long"] {
                let peak = try Peak()
                received.reset()
                let client = StrictClient(
                    keepsBodies: false,
                    onData: { data in
                        received.increment(by: data.count)
                        peak.note()
                    }
                )
                let session = client.session()
                let before = peak.value
                let load = await client.load(session.dataTask(with: request(path, of: server)))
                #expect(load.count == parts * 1_000_000)
                // The limit is a third of the body's size, in KB. If the library kept the body, memory would grow by
                // more than the body's size.
                #expect(peak.value - before < parts * 1000 / 3, "\(path): \(peak.value - before) KB")
                #expect(client.complaints == [])
            }
        }

        @Test("100 long polls wait in one session, and a load in another is not held up")
        func longPolls() async throws {
            let server = try LoopbackServer { request in
                request.path == "/poll" ? .init(transfer: .silent) : .text(Self.networkText)
            }
            defer { server.stop() }
            try install(server, ["poll", "page"])
            let client = StrictClient()
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpMaximumConnectionsPerHost = 100
            let session = client.session(configuration)
            let tasks = (0..<100).map { _ in session.dataTask(with: request("poll", of: server)) }
            await withTaskGroup(of: StrictClient.Load.self) { group in
                for task in tasks { group.addTask { await client.load(task) } }
                await server.waitForRequests(100)
                let other = StrictClient()
                let otherSession = other.session()
                let load = await other.load(otherSession.dataTask(with: request("page", of: server)))
                #expect(load.text == Self.networkText)
                for task in tasks { task.cancel() }
                for await load in group { #expect(load.error == .cancelled) }
            }
            #expect(client.complaints == [])
        }
    }
}

/// The largest resident memory that was measured in this process, in KB.
// Mutable state is only accessed inside the lock.
private final class Peak: @unchecked Sendable {
    private let lock = NSLock()
    private var most: Int

    init() throws { most = try residentMemory() / 1024 }

    var value: Int { lock.withLock { most } }

    func note() {
        let resident = (try? residentMemory() / 1024) ?? .max
        lock.withLock { most = max(most, resident) }
    }
}

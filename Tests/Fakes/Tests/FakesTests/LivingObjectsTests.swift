import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import LocalSubstitutionCache

extension InstalledTests {
    @Suite("What is left of a load", .everyLoadingMode)
    final class LivingObjectsTests: NetworkSuite {
        /// The way in which a load ends.
        enum End: String, CaseIterable {
            case file, silence, offline, status, network, failure, redirect, refusedRedirect, cancellation, invalidation
        }

        @Test("No task, protocol or load stays in memory, however it ends", arguments: End.allCases)
        func nothing(end: End) async throws {
            Living.reset()
            for _ in 0..<(Program.isLongRun ? 50 : 1) { try await load(200, until: end) }
            try await wait(for: "the end of \(Living.objects)") { Living.objects.isEmpty }
        }

        private func load(_ count: Int, until end: End) async throws {
            // The network keeps the tasks that it has seen.
            defer { Network.shared.asked = [] }
            Network.shared.isOffline = end == .offline
            Network.shared.answer = { exchange in
                switch end {
                case .status: exchange.answer(404, "gone")
                case .network: exchange.answer(200, "network")
                case .failure: exchange.end(URLError(.serverCertificateUntrusted))
                case .redirect, .refusedRedirect: exchange.redirect(to: "https://h/a")
                // The load ends while its first events are being delivered.
                case .cancellation, .invalidation: exchange.begin(200, "part")
                case .file, .silence, .offline: break
                }
            }
            let client = StrictClient(onRedirect: { $1(end == .refusedRedirect ? nil : $0) })
            let session = client.session(.default)
            let url = try #require(URL(string: "https://h/\([.file: "a", .silence: "slow"][end] ?? "late")"))
            let tasks = (0..<count).map { _ in session.dataTask(with: URLRequest(url: url)) }
            await withTaskGroup(of: StrictClient.Load.self) { group in
                for task in tasks { group.addTask { await client.load(task) } }
                if [.cancellation, .invalidation].contains(end) {
                    while Network.shared.asked.count < count { await Task.yield() }
                    if end == .invalidation { session.invalidateAndCancel() }
                    for task in tasks { task.cancel() }
                }
                for await load in group {
                    switch end {
                    case .file, .silence, .offline, .status, .redirect: #expect(load.text == Self.fileText)
                    case .network: #expect(load.text == "network")
                    case .failure: #expect(load.error == .serverCertificateUntrusted)
                    case .refusedRedirect: #expect(load.status == 302)
                    case .cancellation, .invalidation: #expect(load.error == .cancelled)
                    }
                }
            }
            #expect(client.complaints == [])
        }
    }
}

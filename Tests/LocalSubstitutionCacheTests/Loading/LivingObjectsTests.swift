import Foundation
import LoopbackServer
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

extension InstalledTests {
    @Suite("What is left of a load")
    final class LivingObjectsTests: InstalledSuite {
        /// The way in which a load ends.
        enum End: String, CaseIterable {
            case file, silence, offline, status, network, redirect, cancellation, suspensionAndCancellation,
                invalidation
        }

        @Test("No task, protocol or load stays in memory, however it ends", arguments: End.allCases, [true, false])
        func nothing(end: End, hasDelegate: Bool) async throws {
            // On a busy machine, a second may pass before a request is sent, which the test would wait for in vain.
            let patience = [.cancellation, .invalidation].contains(end) ? "60s" : "1s"
            let site = try Site(folder, when: "[\"offline\", 404, \"\(patience)\"]") { request in
                switch end {
                case .status: .text("gone", status: 404)
                case .network: .text(Self.networkText)
                case .redirect: .init(status: 302, headers: ["Location": "/always"])
                default: .init(transfer: .silent)
                }
            }
            defer { site.server.stop() }
            if end == .offline { site.server.stop() }
            Tracked.reset()
            for _ in 0..<(Program.isLongRun ? 50 : 1) {
                try await load(Program.isLongRun ? 200 : 50, end, hasDelegate, site)
            }
            try await wait(for: "the end of \(Tracked.living)") { Tracked.living.isEmpty }
        }

        private func load(_ count: Int, _ end: End, _ hasDelegate: Bool, _ site: Site) async throws {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [Tracked.self] + (configuration.protocolClasses ?? [])
            // Every load begins at once.
            configuration.httpMaximumConnectionsPerHost = count
            let session = URLSession(
                configuration: configuration,
                delegate: hasDelegate ? Collector() : nil,
                delegateQueue: nil
            )
            var request = site.request
            if end == .file { request.url = site.server.url.appendingPathComponent("always") }
            let tasks = (0..<count).map { _ in
                Ended { end in
                    guard let collector = session.delegate as? Collector else {
                        return session.dataTask(with: request) { _, _, _ in end.finish() }
                    }
                    let task = session.dataTask(with: request)
                    collector.expect(task) { _ in end.finish() }
                    return task
                }
            }
            // If a session is invalidated before its loads begin, Foundation on Linux does not report their ends.
            site.server.forgetRequests()
            for task in tasks { task.task.resume() }
            if end == .invalidation || end == .cancellation { await site.server.waitForRequests(count) }
            if end == .invalidation { session.invalidateAndCancel() }
            for task in tasks {
                if end == .suspensionAndCancellation { task.task.suspend() }
                if [.cancellation, .suspensionAndCancellation].contains(end) { task.task.cancel() }
            }
            for task in tasks { await task.wait() }
            session.finishTasksAndInvalidate()
        }
    }
}

/// A task, and its end.
private struct Ended {
    let task: URLSessionDataTask
    private let ends: AsyncStream<Void>

    init(_ make: (AsyncStream<Void>.Continuation) -> URLSessionDataTask) {
        let (ends, end) = AsyncStream<Void>.makeStream()
        (task, self.ends) = (make(end), ends)
    }

    func wait() async { for await _ in ends {} }
}

/// A protocol that notes its instances, their loads and their tasks.
private final class Tracked: SubstitutionURLProtocol {
    // Only the reference is passed between threads.
    private struct Reference: @unchecked Sendable {
        weak let object: AnyObject?
    }

    private static let references = Locked<[Reference]>([])

    /// The number of objects by kind that still exist.
    static var living: [String: Int] {
        references.value.compactMap(\.object).reduce(into: [:]) { $0["\(type(of: $1))", default: 0] += 1 }
    }

    static func reset() { _ = references.replace(with: []) }

    override func startLoading() {
        super.startLoading()
        let added = [self, load, task].map { Reference(object: $0) }
        Self.references.withLock { $0 += added }
    }
}

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
    @Suite("The answers that the tool's browser copies")
    final class AppRequestTests: InstalledSuite {
        @Test(
            "A load with a completion handler, in a session that lists the protocol, gets the answers of the table",
            Platform.measuredOnLinux
        )
        func answers() async throws {
            let hosts = Lazily()
            let here = try LoopbackServer { AppRequest.respond($0.path, hosts.value) }
            let there = try LoopbackServer { AppRequest.respond($0.path, hosts.value) }
            let gone = try LoopbackServer { _ in .text("") }
            gone.stop()
            defer { for server in [here, there] { server.stop() } }
            let all = [here, there, gone].map(\.url.absoluteString)
            hosts.value = AppRequest.Hosts(here: all[0], there: all[1], gone: all[2])
            for file in AppRequest.files { try folder.write("file \(file)", to: file) }
            try folder.cache(hosts.value.manifest).install()
            var sessions = [URLSession.shared]
            for configuration in [URLSessionConfiguration.default, .ephemeral] {
                configuration.useSubstitutions()
                sessions.append(URLSession(configuration: configuration))
            }
            for row in AppRequest.all {
                var request = URLRequest(url: try #require(URL(string: row.url(hosts.value))))
                request.httpMethod = row.method
                for (name, value) in row.fields { request.setValue(value, forHTTPHeaderField: name) }
                for session in sessions {
                    let head = try await TaskKind.completion.load(request, in: session).0
                    let answer = AppRequest.answer(status: head.statusCode) { head.value(forHTTPHeaderField: $0) }
                    #expect(answer == row.answer, "\(row)")
                }
            }
        }

        @Test("A URL with a user name is left to the network", Platform.measuredOnLinux)
        func userName() async throws {
            let url = try #require(request.url?.absoluteString.replacingOccurrences(of: "//", with: "//name:word@"))
            let named = URLRequest(url: try #require(URL(string: url)))
            #expect(try await answerer(of: named, in: .shared) == "network")
        }
    }
}

/// The servers' addresses, which are known only once the servers run.
// Mutable state is only accessed inside the lock.
private final class Lazily: @unchecked Sendable {
    private let lock = NSLock()
    private var hosts = AppRequest.Hosts(here: "", there: "", gone: "")
    var value: AppRequest.Hosts {
        get { lock.withLock { hosts } }
        set { lock.withLock { hosts = newValue } }
    }
}

import Foundation
import LoopbackServer
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews

extension InstalledTests {
    @Suite("Conditions in mirror pages", .realNetwork)
    final class MirrorConditionTests: CacheSuite {
        /// Installs a cache whose entry for `/when` has conditions, and returns a server for pages.
        private func server(_ remote: LoopbackServer, when conditions: String) throws -> SchemeServer {
            let url = remote.url.absoluteString
            let cache = try cache("{ \"\(url)/when\": { \"file\": \"site.css\", \"when\": \(conditions) } }")
            cache.install()
            return SchemeServer(cache, forwardingTo: [String(url.dropFirst("http://".count))])
        }

        /// Returns what a page receives for a path.
        private func text(_ path: String, _ server: SchemeServer, of remote: LoopbackServer) async throws -> String {
            let mirror = "substitution-\(remote.url.absoluteString)"
            var request = try request(mirror + path, "GET", ["Referer": mirror + "/"])
            request.mainDocumentURL = URL(string: mirror)
            request.timeoutInterval = 300
            var body = Data()
            for try await element in server.reply(to: request) {
                if case .data(let data) = element { body += data }
            }
            return String(decoding: body, as: UTF8.self)
        }

        @Test("After a status that a condition names, the file answers a page; otherwise the network does")
        func conditions() async throws {
            let fails = Flag()
            let remote = try LoopbackServer { request in
                if request.path == "/moved" { return .init(status: 302, headers: ["Location": "/when"]) }
                return fails.isSet ? .text("refused", status: 503) : .text("from the network\n")
            }
            let server = try server(remote, when: "[503, \"offline\"]")
            defer { server.cache.uninstall() }
            #expect(try await text("/when", server, of: remote) == "from the network\n")
            fails.set()
            #expect(try await text("/when", server, of: remote) == body)
            // A redirect to a URL with a condition leads to the file, too.
            #expect(try await text("/moved", server, of: remote) == body)
            #expect(remote.requests.map(\.path) == ["/when", "/when", "/moved", "/when"])
            remote.stop()
            #expect(try await text("/when", server, of: remote) == body)
        }

        @Test("After the network's silence, the file answers a page")
        func silence() async throws {
            let remote = try LoopbackServer { _ in .init(transfer: .silent) }
            defer { remote.stop() }
            let server = try server(remote, when: "\"1s\"")
            defer { server.cache.uninstall() }
            #expect(try await text("/when", server, of: remote) == body)
        }
    }
}

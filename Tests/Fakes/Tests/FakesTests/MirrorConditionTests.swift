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
        @Test("After a status that a condition names, the file answers a page; otherwise the network does")
        func conditions() async throws {
            let remote = try LoopbackServer { request in
                request.headers["x-fail"] == nil ? .text("from the network\n") : .text("refused", status: 503)
            }
            let page = remote.url.appendingPathComponent("when")
            let cache = try cache(
                "{ \"\(page.absoluteString)\": { \"file\": \"site.css\", \"when\": [503, \"offline\"] } }"
            )
            cache.install()
            defer { cache.uninstall() }
            let server = SchemeServer(cache, forwardingTo: [String(remote.url.absoluteString.dropFirst(7))])
            var request = URLRequest(url: cache.mirror(of: page))
            request.mainDocumentURL = cache.mirror(of: remote.url)
            request.timeoutInterval = 300
            #expect(try await text(server.reply(to: request)) == "from the network\n")
            var failing = request
            failing.setValue("substitution-\(remote.url.absoluteString)/", forHTTPHeaderField: "Referer")
            failing.setValue("1", forHTTPHeaderField: "X-Fail")
            #expect(try await text(server.reply(to: failing)) == body)
            remote.stop()
            #expect(try await text(server.reply(to: request)) == body)
        }

        @Test("After the network's silence, the file answers a page")
        func silence() async throws {
            let remote = try LoopbackServer { _ in .init(transfer: .silent) }
            defer { remote.stop() }
            let page = remote.url.appendingPathComponent("when")
            let cache = try cache("{ \"\(page.absoluteString)\": { \"file\": \"site.css\", \"when\": \"1s\" } }")
            cache.install()
            defer { cache.uninstall() }
            let server = SchemeServer(cache, forwardingTo: [String(remote.url.absoluteString.dropFirst(7))])
            var request = URLRequest(url: cache.mirror(of: page))
            request.mainDocumentURL = cache.mirror(of: remote.url)
            request.timeoutInterval = 300
            #expect(try await text(server.reply(to: request)) == body)
        }

        @Test("A redirect to a URL with a condition leads to the file if the condition holds")
        func redirect() async throws {
            let remote = try LoopbackServer { request in
                request.path == "/when"
                    ? .text("refused", status: 503) : .init(status: 302, headers: ["Location": "/when"])
            }
            defer { remote.stop() }
            let cache = try cache(
                "{ \"\(remote.url.absoluteString)/when\": { \"file\": \"site.css\", \"when\": 503 } }"
            )
            cache.install()
            defer { cache.uninstall() }
            let server = SchemeServer(cache, forwardingTo: [String(remote.url.absoluteString.dropFirst(7))])
            var request = URLRequest(url: cache.mirror(of: remote.url.appendingPathComponent("moved")))
            request.mainDocumentURL = cache.mirror(of: remote.url)
            request.setValue("substitution-\(remote.url.absoluteString)/", forHTTPHeaderField: "Referer")
            #expect(try await text(server.reply(to: request)) == body)
            #expect(remote.requests.map(\.path) == ["/moved", "/when"])
        }

        private func text(_ reply: SchemeReply) async throws -> String {
            var body = Data()
            for try await element in reply { if case .data(let data) = element { body += data } }
            return String(decoding: body, as: UTF8.self)
        }
    }
}

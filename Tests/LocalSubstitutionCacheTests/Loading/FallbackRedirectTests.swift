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
    @Suite("Redirects of network-first loads")
    final class FallbackRedirectTests: InstalledSuite {
        @Test(
            "A redirect to a mapped URL is answered with the file, but the network answers a delegate",
            Platform.measuredOnLinux,
            arguments: ["418", "[418, \"offline\"]", "\"offline\""]
        )
        func redirectToSubstituted(conditions: String) async throws {
            let site = try redirecting(to: "/always", when: conditions)
            defer { site.server.stop() }
            for kind in TaskKind.receiving {
                let (head, data) = try await kind.load(site.request, in: site.session)
                #expect(head.url?.path == "/always")
                let status = head.value(forHTTPHeaderField: "Cache-Status")
                if kind == .delegate {
                    #expect(data == Data(Self.networkText.utf8))
                    #expect(status == nil)
                } else {
                    #expect(data == Data(Self.fileText.utf8), "\(kind)")
                    #expect(status == "LocalSubstitutionCache; hit; detail=\"a.txt\"")
                }
            }
        }

        @Test(
            "A redirect that leads to a status in `when` is answered with the file, but the network answers a delegate",
            Platform.measuredOnLinux
        )
        func redirectToStatus() async throws {
            let site = try redirecting(to: "/503", when: "[\"5xx\"]")
            defer { site.server.stop() }
            for kind in [TaskKind.async, .completion] {
                let result = try await kind.load(site.request, in: site.session)
                expectFile(result, "fwd=bypass; fwd-status=503; detail=\"a.txt\"")
                #expect(result.0.url == site.request.url)
            }
            #expect(try await TaskKind.delegate.load(site.request, in: site.session).0.statusCode == 503)
        }

        @Test("The app's delegate decides about redirects, in every kind of load", arguments: ["418", "\"offline\""])
        func redirectPolicy(conditions: String) async throws {
            let site = try redirecting(to: "/always", when: conditions)
            defer { site.server.stop() }
            let session = URLSession.named(site.session.configuration, delegate: Collector(refusesRedirects: true))
            for kind in TaskKind.receiving {
                #expect(try await kind.load(site.request, in: session).0.statusCode == 302, "\(kind)")
            }
            #expect(site.server.requests.allSatisfy { $0.path == "/when" })
            #expect((session.delegate as? Collector)?.strayCalls.value == 0)
        }
    }
}

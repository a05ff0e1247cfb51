// Only macOS and Linux can start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache

extension InstalledTests {
    @Suite("Against nginx")
    final class NginxTests: InstalledSuite {
        private static let needsNginx = ConditionTrait.enabled(
            if: Nginx.program != nil || Program.isEverythingRequired,
            "needs nginx"
        )

        private static let locations = """
            location = /301 { return 301 /page.html; }
            location = /302 { return 302 http://127.0.0.1:PORT/page.html; }
            location = /303 { return 303 /page.html; }
            location = /307 { return 307 /page.html; }
            location = /308 { return 308 /page.html; }
            location = /deep/relative { return 302 page.html; }
            location = /schemeless { return 302 //127.0.0.1:PORT/page.html; }
            location = /chain { return 301 /302; }
            location = /loop { return 302 /loop; }
            location = /403 { return 403; }
            location = /404 { return 404; }
            location = /410 { return 410; }
            location = /429 { return 429 '{"wait": 5}'; }
            location = /500 { return 500; }
            location = /502 { proxy_pass http://127.0.0.1:1; }
            location = /503 { add_header Retry-After 5 always; return 503; }
            location = /basic { auth_basic "test"; auth_basic_user_file users; }
            location = /gzip.html { gzip on; gzip_min_length 1; gzip_proxied any; }
            location = /vary.html { add_header Vary Accept-Encoding; add_header Vary Cookie; }
            location = /slow.html { limit_rate 200k; }
            location = /dropped { return 444; }
            """

        private static let paths = [
            "page.html", "301", "302", "303", "307", "308", "deep/relative", "schemeless", "chain", "loop", "403",
            "404",
            "410",
            "429", "500", "502", "503", "gzip.html", "slow.html", "dropped", "missing",
        ]

        private func makeNginx() async throws -> Nginx {
            let page = Data("<p>from the network</p>\n".utf8)
            let long = Data((0..<60_000).map { UInt8(truncatingIfNeeded: $0 / 500) })
            let files = [
                "page.html": page, "deep/page.html": Data("deep".utf8), "gzip.html": long, "slow.html": long,
                "vary.html": page, "basic": page, "../users": Data("me:{PLAIN}secret\n".utf8),
            ]
            return try await Nginx(Self.locations, files: files)
        }

        private func install(_ paths: [String], of nginx: Nginx, when conditions: String) throws -> URLSession {
            let entries = paths.map { path in
                "\"\(nginx.url.absoluteString)/\(path)\": { \"file\": \"a.txt\", \"when\": \(conditions) }"
            }
            try folder.cache("{ \(entries.joined(separator: ", ")) }").install()
            let configuration = URLSessionConfiguration.ephemeral
            configuration.useSubstitutions()
            return .named(configuration, delegate: StrictClient())
        }

        @Test("nginx: if no condition holds, answers are the same with and without the library", needsNginx)
        func nginxUntouched() async throws {
            let nginx = try await makeNginx()
            defer { nginx.stop() }
            for conditions in ["\"offline\"", "418"] {
                let session = try install(Self.paths, of: nginx, when: conditions)
                let stock = URLSession(configuration: .ephemeral, delegate: StrictClient(), delegateQueue: nil)
                for path in Self.paths {
                    for kind in [TaskKind.async, .completion, .delegate] {
                        let request = URLRequest(url: nginx.url.appendingPathComponent(path))
                        let expected = await kind.trace(request, in: stock)
                        #expect(await kind.trace(request, in: session) == expected, "\(path), \(kind), \(conditions)")
                    }
                }
            }
        }

        @Test("nginx: errors are replaced by the file, and other answers are not", needsNginx)
        func nginxStatus() async throws {
            let nginx = try await makeNginx()
            defer { nginx.stop() }
            let session = try install(Self.paths, of: nginx, when: "[\"4xx\", \"5xx\"]")
            for path in Self.paths where !["loop", "dropped"].contains(path) {
                for kind in [TaskKind.async, .completion, .delegate] {
                    let request = URLRequest(url: nginx.url.appendingPathComponent(path))
                    let (head, data) = try await kind.load(request, in: session)
                    let isError = Int(path) ?? 0 >= 400 || path == "missing"
                    // The network's response to a delegate stands.
                    let isFile = isError && kind != .delegate
                    #expect((head.statusCode >= 400) == (isError && !isFile))
                    #expect((data == Data(Self.fileText.utf8)) == isFile, "\(path), \(kind)")
                }
            }
        }

        @Test("nginx: Basic authentication works through the library", needsNginx)
        func nginxBasic() async throws {
            let nginx = try await makeNginx()
            defer { nginx.stop() }
            for conditions in ["\"offline\"", "418"] {
                let configuration = try install(["basic"], of: nginx, when: conditions).configuration
                let credential = URLCredential(user: "me", password: "secret", persistence: .none)
                let request = URLRequest(url: nginx.url.appendingPathComponent("basic"))
                var traces: [String] = []
                for configuration in [configuration, .ephemeral] {
                    let delegate = StrictClient(onChallenge: { $0(.useCredential, credential) })
                    let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
                    if traces.isEmpty { try session.registerForSubstitutions() }
                    traces.append(await TaskKind.delegate.trace(request, in: session))
                }
                #expect(traces[0] == traces[1])
                #expect(traces[0].hasPrefix("200 "))
            }
        }

        @Test("nginx: the archive keeps the answers it may keep, and replays them once the server is gone", needsNginx)
        func nginxArchive() async throws {
            let nginx = try await makeNginx()
            let archive = try makeArchive()
            try folder.cache("{}").install(archive: archive)
            let session = URLSession(substituting: .ephemeral)
            // Foundation on Linux shows no redirect, so what follows one is not kept.
            let (kept, others) = (["page.html", "gzip.html"], ["404", "vary.html", "301", "deep/relative", "chain"])
            var online: [String: Data] = [:]
            for path in kept + others {
                online[path] = try await session.data(from: nginx.url.appendingPathComponent(path)).0
            }
            nginx.stop()
            for path in kept {
                #expect(
                    try await session.data(from: nginx.url.appendingPathComponent(path)).0 == online[path],
                    "\(path)"
                )
            }
            for path in others {
                let url = nginx.url.appendingPathComponent(path)
                await #expect(throws: URLError.self, "\(path)") { _ = try await session.data(from: url) }
            }
        }
    }
}
#endif

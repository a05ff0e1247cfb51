// Only macOS and Linux can start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

extension InstalledTests {
    @Suite("Against nginx")
    final class NginxTests: InstalledSuite {
        private static let needsNginx = ConditionTrait.enabled(
            if: Nginx.program != nil || Program.isEverythingRequired,
            "needs nginx"
        )

        private static let locations = """
            location = /302 { return 302 http://127.0.0.1:PORT/page.html; }
            location = /303 { return 303 /page.html; }
            location = /deep/relative { return 302 page.html; }
            location = /schemeless { return 302 //127.0.0.1:PORT/page.html; }
            location = /chain { return 301 /302; }
            location = /loop { return 302 /loop; }
            location = /404 { return 404; }
            location = /503 { add_header Retry-After 5 always; return 503; }
            location = /basic { auth_basic "test"; auth_basic_user_file users; }
            location = /gzip.html { gzip on; gzip_min_length 1; gzip_proxied any; }
            location = /dropped { return 444; }
            """

        private static let paths = [
            "page.html", "302", "303", "deep/relative", "schemeless", "chain", "loop", "404", "503", "gzip.html",
            "dropped", "missing", "basic",
        ]

        @Test("nginx: if no condition holds, answers are the same with and without the library", needsNginx)
        func nginxUntouched() async throws {
            let (page, long) = (Data("<p>from the network</p>\n".utf8), Data(repeating: 97, count: 60_000))
            let files = [
                "page.html": page, "deep/page.html": Data("deep".utf8), "gzip.html": long, "basic": page,
                "../users": Data("me:{PLAIN}secret\n".utf8),
            ]
            let nginx = try await Nginx(Self.locations, files: files)
            defer { nginx.stop() }
            for conditions in ["\"offline\"", "418"] {
                let urls = Self.paths.map { "\(nginx.url.absoluteString)/\($0)" }
                try folder.cache(networkFirst(urls, when: conditions)).install()
                let session = URLSession.using(delegate: StrictClient.signingIn(), registered: true)
                let delegate = StrictClient.signingIn()
                let stock = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
                for path in Self.paths {
                    for kind in path == "basic" ? [.delegate] : TaskKind.receiving {
                        let request = URLRequest(url: nginx.url.appendingPathComponent(path))
                        let expected = await kind.trace(request, in: stock)
                        #expect(await kind.trace(request, in: session) == expected, "\(path), \(kind), \(conditions)")
                        #expect(path != "basic" || expected.hasPrefix("200 "))
                    }
                }
            }
        }
    }
}
#endif

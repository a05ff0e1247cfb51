import Foundation
import FoundationNetworking
import LoopbackServer
import TestSupport
import Testing

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews

extension InstalledTests {
    @Suite("Conditions in mirror pages")
    final class MirrorConditionTests: ServerSuite {
        @Test("After a status that a condition names, or a silence, the file answers a page; else the network")
        func conditions() async throws {
            let fails = Flag()
            let remote = try LoopbackServer { request in
                switch request.path {
                case "/moved": .init(status: 302, headers: ["Location": "/when"])
                case "/silent": .init(transfer: .silent)
                default: fails.isSet ? .text("refused", status: 503) : .text(Self.networkText)
                }
            }
            let url = remote.url.absoluteString
            let cache = try folder.cache(
                """
                { "\(url)/when": { "file": "a.txt", "when": [503, "offline"] },
                  "\(url)/silent": { "file": "a.txt", "when": "1s" } }
                """
            )
            cache.install()
            let server = SchemeServer(cache, forwardingTo: [url])
            /// Returns what a page receives for a path.
            func text(_ path: String) async throws -> String {
                let mirror = "substitution-\(url)"
                var request = URLRequest(url: try #require(URL(string: mirror + path)), timeoutInterval: 300)
                request.setValue(mirror + "/", forHTTPHeaderField: "Referer")
                request.mainDocumentURL = URL(string: mirror)
                var body = Data()
                for try await case .data(let data) in server.reply(to: request) { body += data }
                return String(decoding: body, as: UTF8.self)
            }
            #expect(try await text("/when") == Self.networkText)
            fails.set()
            // A redirect to a URL with a condition leads to the file, too.
            for path in ["/when", "/moved", "/silent"] { #expect(try await text(path) == Self.fileText) }
            #expect(remote.requests.map(\.path) == ["/when", "/when", "/moved", "/when", "/silent"])
            remote.stop()
            #expect(try await text("/when") == Self.fileText)
        }
    }
}

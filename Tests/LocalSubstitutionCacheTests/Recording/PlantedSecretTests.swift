import Foundation
import LoopbackServer
import SubstitutionStandards
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache
@testable import LocalSubstitutionDevelopment

extension InstalledTests {
    @Suite("Requests with a secret")
    final class PlantedSecretTests: InstalledSuite {
        /// Returns all files below a folder in one text, with the bodies of a recording decoded.
        private func written(_ folder: URL, _ recording: URL) throws -> Data {
            var text = Data()
            let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL { text += (try? Data(contentsOf: file)) ?? Data() }
            text += try Data(contentsOf: recording)
            for entry in try RecordedEntry.all(in: recording) { text += Data((entry.body ?? "").utf8) }
            return text
        }

        @Test(
            "Neither a recording, nor its summary, nor an archive shows a secret, whatever its shape",
            arguments: [1, 2]
        )
        func planted(seed: UInt64) async throws {
            let planted = PlantedSecret.all(seed: seed)
            #expect(planted.count >= 50)
            // The server answers with all that it was sent, and redirects some requests to their own URL.
            let site = try LoopbackServer { request in
                if request.target.hasPrefix("/moved") {
                    return .init(status: 302, headers: ["Location": String(request.target.dropFirst(6))])
                }
                return .text("\(request.target) \(request.headers) \(String(decoding: request.body, as: UTF8.self))")
            }
            defer { site.stop() }
            let files = planted.filter { $0.userInfo == nil }.map {
                "\"\(site.url)/file\($0.tail.prefix { !"?#;".contains($0) })\""
            }
            // The last entry is the nearest to some of the URLs, so it stands in the reasons of the recording.
            let named = planted[0]
            let manifest =
                "{ \(files.map { "\($0): { \"file\": \"a.txt\", \"ignoreQuery\": true }" }.joined(separator: ",\n")), "
                + "\"\(site.url)/p0?token=\(named.secret)\": \"a.txt\" }"
            let archive = try makeArchive()
            let cache = try folder.cache(manifest)
            cache.install(archive: archive)
            let recording = try cache.record(to: folder.url.appendingPathComponent("app.har"))
            let configuration = URLSessionConfiguration.ephemeral
            configuration.useSubstitutions()
            let session = URLSession.named(configuration, delegate: Collector())
            for each in planted {
                for server in [
                    site.url, site.url.appendingPathComponent("moved"), site.url.appendingPathComponent("file"),
                ] {
                    let request = try #require(each.request(to: server), "\(each)")
                    _ = try? await session.data(for: request)
                }
            }
            _ = try await session.data(for: URLRequest(url: site.url.appendingPathComponent("p0")))
            let control = URLRequest(url: site.url.appendingPathComponent("control"))
            _ = try await session.data(for: control)
            await session.settle()
            archive.waitUntilWritten()
            try recording.stop()
            let text = try written(
                archive.copies.isEmpty ? folder.url : folder.url.appendingPathComponent("archive"),
                recording.file
            )
            #expect(archive.copies.contains { $0.url == control.url })
            #expect(text.range(of: Data("/control [".utf8)) != nil)
            let summary = Data("\(recording.summary) \(recording.summary.misses)".utf8)
            for each in planted {
                #expect(!each.isShown(in: text), "\(each)")
                #expect(!each.isShown(in: summary), "\(each)")
            }
        }

        @Test(
            "An archive keeps no answer to a request with a secret, unless the host is allowed",
            arguments: [[], ["127.0.0.1"]]
        )
        func archived(hosts: [String]) throws {
            let archive = try makeArchive(hostsWithCredentials: Set(hosts))
            for each in PlantedSecret.all(seed: 3) where !each.tail.contains("#") {
                let request = try #require(each.request(to: server.url))
                #expect(request.isPersonal, "\(each)")
                #expect(archive.accepts(request) == !hosts.isEmpty || each.userInfo != nil, "\(each)")
            }
            for url in [
                "/a", "/a?id=123e4567-e89b-12d3-a456-426614174000", "/a?state=on&code=de&key=name",
                "/a?v=8f3a&user=anna", "/a?asset=hf_model&city=SG.", "/a?q=EAABxx", "/npm_modules/a.js",
                "/a?q=token+2024",
            ] {
                #expect(archive.accepts(URLRequest(url: try #require(URL(string: server.url.absoluteString + url)))))
            }
        }
    }
}

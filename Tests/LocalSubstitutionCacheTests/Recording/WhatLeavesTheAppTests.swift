import Foundation
import LoopbackServer
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
    @Suite("What leaves the app")
    final class WhatLeavesTheAppTests: InstalledSuite {
        /// A place of a request or response that may hold what belongs to one user.
        private enum Place: CaseIterable {
            case path, query, user, password, fragment, field, sessionField, cookie, body, location
            case responseField, setCookie, responseBody

            /// Places that no file and no message shows, whoever named the host.
            static let never: Set<Self> = [
                .user, .password, .fragment, .field, .sessionField, .cookie, .body, .setCookie,
            ]
        }

        /// Generated texts, which stand nowhere else.
        private struct Load: Sendable {
            let texts: [Place: String]
            let host: String

            init(host: String, _ places: [Place] = Place.allCases.filter { _ in Int.random(in: 0..<4) == 0 }) {
                let letters = Array("abcdefghijklmnopqrstuvwxyz")
                let texts = places.map { ($0, String((0..<16).map { _ in letters[Int.random(in: letters.indices)] })) }
                (self.texts, self.host) = (Dictionary(uniqueKeysWithValues: texts), host)
            }

            func request(_ number: Int, _ port: Int) -> URLRequest? {
                let user = texts[.user].map { "\($0)\(texts[.password].map { ":" + $0 } ?? "")@" } ?? ""
                let query = texts[.query].map { "?v=\($0)&w" } ?? ""
                let fragment = texts[.fragment].map { "#" + $0 } ?? ""
                let address = "http://\(user)\(host):\(port)/\(number)/\(texts[.path] ?? "")\(query)\(fragment)"
                let fields = ["X-Own": texts[.field], "Cookie": texts[.cookie]].compactMapValues(\.self)
                guard let url = URL(string: address) else { return nil }
                var request = URLRequest(url: url).with(fields, texts[.body] == nil ? "GET" : "POST")
                request.httpBody = texts[.body].map { Data($0.utf8) }
                return request
            }

            func response(to path: String) -> LoopbackServer.Response {
                var headers: [String: String] = ["X-Own": texts[.responseField] ?? ""]
                headers["Set-Cookie"] = texts[.setCookie].map { "a=\($0); Path=\(path)" }
                if let location = texts[.location], !path.hasSuffix(location) {
                    headers["Location"] = path + "/" + location
                    return .init(status: 302, headers: headers)
                }
                return .init(headers: headers, body: Data((texts[.responseBody] ?? "").utf8))
            }
        }

        @Test(
            "Of a host that nobody named no file has anything, and no message or file has what belongs to one user",
            arguments: [[], ["127.0.0.1"]],
            1...(Program.isLongRun ? 50 : 1)
        )
        func property(named: [String], round: Int) async throws {
            // Both names lead to the same server. The manifest names the second. The archive can keep the first load.
            let random = (0..<99).map { _ in Load(host: Bool.random() ? "127.0.0.1" : "localhost") }
            let loads = [Load(host: "127.0.0.1", [.responseBody])] + random
            let site = try LoopbackServer { request in
                let number = request.path.split(separator: "/").first.flatMap { Int($0) }
                return number.map { loads[$0].response(to: request.path) } ?? .text("", status: 404)
            }
            defer { site.stop() }
            let port = try #require(site.url.port)
            let kept = folder.url.appendingPathComponent("archive")
            let archive = try OfflineArchive(directory: kept, capacity: 50_000_000, hosts: Set(named))
            let cache = try folder.cache("{ \"http://localhost:\(port)/entry\": \"a.txt\" }")
            let messages = Locked<[String]>([])
            let reporter = EventReporter { event in messages.withLock { $0 += event.map { ["\($0)"] } ?? [] } }
            cache.table.changeReporters { $0 + [reporter] }
            cache.install(archive: archive)
            let file = folder.url.appendingPathComponent("app.har")
            let recording = try cache.record(to: file, options: .init(hosts: Set(named)))
            for (number, load) in loads.enumerated() {
                let request = try #require(load.request(number, port))
                messages.withLock { $0.append("\(cache.explain(request))") }
                let configuration = URLSessionConfiguration.ephemeral
                if let text = load.texts[.sessionField] { configuration.httpAdditionalHeaders = ["X-Session": text] }
                let session = URLSession(substituting: configuration)
                _ = try? await session.data(for: request)
                session.finishTasksAndInvalidate()
            }
            archive.directory.queue.sync {}
            try recording.stop()
            reporter.queue.sync {}
            messages.withLock {
                $0 += ["\(recording.summary)", "\(recording.summary.misses)", "\(archive.refusalCounts)"]
            }
            let shown = messages.value.joined(separator: "\n")
            let written = try text(of: [file, kept])
            for (number, load) in loads.enumerated() {
                let isUnnamed = load.host == "127.0.0.1" && named.isEmpty
                for (place, text) in load.texts {
                    let isNever = Place.never.contains(place)
                    // A named host's copy has its response's fields; of the manifest's host there is no copy.
                    let isOfResponse = [.responseField, .responseBody].contains(place)
                    let mayBeWritten =
                        !isNever && !isUnnamed && (load.host == "127.0.0.1" || !isOfResponse && place != .query)
                    let mayBeShown = !isNever && place != .query && !isOfResponse
                    let (isWritten, isShown) = (written.contains(text), shown.contains(text))
                    #expect(mayBeWritten || !isWritten, "\(number): \(place) in a file")
                    #expect(mayBeShown || !isShown, "\(number): \(place) in a message")
                }
            }
            // Something is written of what was named.
            #expect(archive.copies.isEmpty == named.isEmpty)
            #expect(written.contains("/entry") || written.contains("localhost:\(port)/"))
        }

        /// Returns the contents of files and folders, with the bodies of a recording decoded.
        private func text(of places: [URL]) throws -> String {
            var data = Data()
            for place in places {
                data += (try? Data(contentsOf: place)) ?? Data()
                let files = FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)
                while let file = files?.nextObject() as? URL { data += (try? Data(contentsOf: file)) ?? Data() }
                if place.pathExtension == "har" {
                    for entry in try RecordedEntry.all(in: place) { data += Data((entry.body ?? "").utf8) }
                }
            }
            return String(decoding: data, as: UTF8.self)
        }
    }
}

import Foundation
import LocalSubstitutionDevelopment
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

@Suite("Many threads")
struct ConcurrencyTests {
    @Test("Eight threads get complete answers while another reloads good, new and broken manifests")
    func reload() async throws {
        let folder = try TemporaryFolder()
        let (old, new) = (String(repeating: "o", count: 5000), String(repeating: "n", count: 7000))
        try folder.write(old, to: "old.txt")
        try folder.write(new, to: "new.txt")
        let manifest = folder.url.appendingPathComponent("manifest.json")
        let manifests = [
            #"{ "https://h/x": "old.txt" }"#, #"{ "https://h/x": "new.txt" }"#, #"{ "https://h/x": "gone" "#,
        ]
        try folder.write(manifests[0], to: "manifest.json")
        let cache = try SubstitutionCache(manifest: manifest)
        let answers = [Data(old.utf8), Data(new.utf8)]
        let url = try #require(URL(string: "https://h/x"))
        let other = try #require(URL(string: "https://H/x"))

        let isDone = Flag()
        let wrong = Counter()
        let seen = [Counter(), Counter()]
        async let others: [Void] = withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    try await onThread {
                        var request = URLRequest(url: thread % 2 == 0 ? url : other)
                        if thread % 4 == 1 { request.setValue("bytes=1-", forHTTPHeaderField: "Range") }
                        while !isDone.isSet {
                            let response = cache.cachedResponse(for: request)
                            let index = answers.firstIndex { answer in
                                response?.data == (thread % 4 == 1 ? answer.dropFirst() : answer)
                            }
                            let length = (response?.response as? HTTPURLResponse)?.expectedContentLength
                            if let index, length == response.map({ Int64($0.data.count) }) {
                                seen[index].increment()
                            } else {
                                wrong.increment()
                            }
                            _ = cache.explain(request)
                            cache.removeAllCachedResponses()
                            // Leave the reloading thread some processor time.
                            usleep(500)
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let failures = try await onThread {
            var (failures, round) = (0, 0)
            defer { isDone.set() }
            while round < (Program.isLongRun ? 99 : 30) || seen.contains(where: { $0.value == 0 }) {
                for text in manifests {
                    try Data(text.utf8).write(to: manifest, options: .atomic)
                    do {
                        try cache.reload()
                    } catch {
                        failures += 1
                    }
                    round += 1
                }
            }
            return (failures, round)
        }
        _ = try await others
        #expect(wrong.value == 0)
        #expect(failures.0 == failures.1 / 3)
        #expect(seen.allSatisfy { $0.value > 0 })
    }
}

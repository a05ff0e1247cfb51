import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Responses that are built in the background", .serialized)
struct PreparationTests {
    private let count = 100
    private let folder: TemporaryFolder
    private let queue = CurrentTable.Preparation.shared.queue

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("old", to: "file.txt")
    }

    private func cache() throws -> SubstitutionCache {
        let entries = (0..<count).map { "\"https://h/\($0)\": \"file.txt\"" }
        return try folder.cache("{\(entries.joined(separator: ", "))}")
    }

    /// Returns the responses to all of the cache's URLs.
    private func responses(_ cache: SubstitutionCache) throws -> [CachedURLResponse] {
        try (0..<count).map { number in
            let url = try #require(URL(string: "https://h/\(number)"))
            return try #require(cache.cachedResponse(for: URLRequest(url: url)))
        }
    }

    @Test("A request after the background gets the response that the background built")
    func late() throws {
        let cache = try cache()
        cache.table.finishPreparation()
        for (number, response) in try responses(cache).enumerated() {
            let url = try #require(URL(string: "https://h/\(number)"))
            #expect(cache.table.value.match(url)?.row.prepare() === response)
        }
    }

    @Test("Eight threads and the background agree on one instance for each URL")
    func threads() throws {
        for _ in 0..<20 {
            queue.suspend()
            let cache = try cache()
            let found = Locked<[Set<ObjectIdentifier>]>(Array(repeating: [], count: count))
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                if thread == 0 { queue.resume() }
                let identifiers = ((try? responses(cache)) ?? []).map(ObjectIdentifier.init)
                found.withLock { found in
                    for (index, identifier) in identifiers.enumerated() { found[index].insert(identifier) }
                }
            }
            cache.table.finishPreparation()
            let last = try responses(cache)
            #expect(found.value == last.map { [ObjectIdentifier($0)] })
        }
    }

    @Test("A cache released before or during the background's work leaves no memory and no work behind")
    func released() throws {
        for isBegun in [false, true] {
            if !isBegun { queue.suspend() }
            var cache: SubstitutionCache?
            cache = try self.cache()
            weak let table = cache?.table.value
            weak let row = try cache?.table.value.match(#require(URL(string: "https://h/99")))?.row
            #expect(table != nil && row != nil)
            cache = nil
            if isBegun { queue.sync {} }
            #expect(table == nil && row == nil)
            if !isBegun { queue.resume() }
        }
    }

    @Test("A reload releases the previous table, and its responses are built the same way")
    func reloaded() throws {
        for isBegun in [false, true] {
            try folder.write("first", to: "file.txt")
            if !isBegun { queue.suspend() }
            let cache = try cache()
            let old = try responses(cache)
            weak let table = cache.table.value
            try folder.write("second", to: "file.txt")
            try cache.reload()
            if isBegun { queue.sync {} }
            #expect(table == nil)
            if !isBegun {
                #expect(!cache.table.isPrepared)
                queue.resume()
            }
            cache.table.finishPreparation()
            #expect(cache.table.isPrepared)
            let new = try responses(cache)
            #expect(new.allSatisfy { $0.data == Data("second".utf8) })
            #expect(!zip(old, new).contains { $0 === $1 })
            // After the background queue has finished its work, a reload gives it new work.
            try cache.reload()
            cache.table.finishPreparation()
            #expect(cache.table.isPrepared)
            #expect(try !zip(responses(cache), new).contains { $0 === $1 })
        }
    }
}

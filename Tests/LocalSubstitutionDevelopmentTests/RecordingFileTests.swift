import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionDevelopment

@Suite("The file of a recording")
struct RecordingFileTests {
    private let folder: TemporaryFolder
    private let cache: SubstitutionCache
    private let url: URL
    private let request: URLRequest
    private let head: HTTPURLResponse

    private static let options = Recording.Options(hosts: ["example.com"])

    init() throws {
        folder = try TemporaryFolder()
        cache = try folder.cache("{}")
        url = try #require(URL(string: "https://example.com/"))
        request = URLRequest(url: url)
        head = try Self.response(of: url)
    }

    private static func response(of url: URL, _ status: Int = 200, _ fields: [String: String] = [:]) throws
        -> HTTPURLResponse
    {
        try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields))
    }

    /// Lets the observer see the steps of a load.
    private static func observe(_ steps: [RequestStep], of url: URL, _ observer: (any RequestObserver)?) {
        let load = Load()
        for step in steps { observer?.observe(step, of: URLRequest(url: url), by: load) }
    }

    /// Lets the observer see a whole load, and returns the response.
    @discardableResult
    private static func load(_ name: String, _ body: Data = Data(), in observer: (any RequestObserver)?) throws
        -> HTTPURLResponse
    {
        let url = try #require(URL(string: "https://example.com/\(name)"))
        let head = try response(of: url)
        observe([.asked, .received(head), .receivedPart(body), .ended(nil)], of: url, observer)
        return head
    }

    private var file: URL { folder.url.appendingPathComponent("app.har") }

    private func makeLog(limit: Int? = nil) throws -> RecordingLog {
        var options = Self.options
        options.maximumFileSize = limit ?? options.maximumFileSize
        return RecordingLog(cache, try RecordingFile(file), options)
    }

    /// Records loads one after the other, and writes the file after each load.
    ///
    /// - Parameters:
    ///   - folder: The folder of the manifest, its files and the recording.
    ///   - count: The number of loads.
    /// - Throws: An error if the file cannot be written.
    private static func record(in folder: URL, count: Int) throws {
        let cache = try SubstitutionCache(manifestData: Data("{}".utf8), folder: folder)
        let recording = try cache.record(to: folder.appendingPathComponent("app.har"), options: options)
        for number in 0..<count {
            try load("\(number)", Data(repeating: 97, count: number % 5000), in: cache.observer)
            try recording.save()
        }
    }

    /// Returns the entries in the file, which must be complete JSON.
    private func entries() throws -> [[String: Any]] {
        let json = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
        let log = try #require((json as? [String: Any])?["log"] as? [String: Any])
        return try #require(log["entries"] as? [[String: Any]])
    }

    private func count() throws -> Int { try entries().count }

    private func text() throws -> String { try String(contentsOf: file, encoding: .utf8) }

    @Test(
        "Lengths that a server only states crash no recording",
        arguments: ["5000", "5000000000000000000", "9223372036854775807", "-9223372036854775808", "x"]
    )
    func statedLengths(length: String) throws {
        let recording = try cache.record(to: file, options: Self.options)
        let head = try Self.response(of: url, 200, ["Content-Length": length])
        for _ in 0..<3 { Self.observe([.asked, .received(head), .ended(nil)], of: url, cache.observer) }
        try recording.stop()
        let miss = try #require(recording.summary.misses.first)
        #expect(miss.loadCount == 3 && miss.byteCount == (Int(length) == 5000 ? 15_000 : 0))
        #expect(recording.summary.description.contains("3 ×"))
    }

    /// A load without a task.
    private final class Load: Sendable {}

    @Test("An archived copy is counted with the others of its URL, and as saved", arguments: [false, true])
    func answeredLate(isOmitted: Bool) throws {
        let log = try makeLog(limit: isOmitted ? 10 : nil)
        for isAskedBefore in [true, false, true] {
            let load = Load()
            log.observe(.asked, of: request, by: load)
            if isAskedBefore { _ = log.summary }
            log.observe(.answered(head, byteCount: 1000), of: request, by: load)
            // The app's task may have failed, but the app has received the copy.
            log.observe(.ended(URLError(.cannotConnectToHost)), of: request, by: load)
            try log.save()
        }
        let summary = log.summary
        #expect(summary.requestCount == 3 && summary.omittedRequestCount == (isOmitted ? 3 : 0))
        if !isOmitted { #expect(summary.fileResponseCount == 3 && summary.fileByteCount == 3000) }
        let text = try text()
        #expect(text.components(separatedBy: "\"request\":").count == (isOmitted ? 1 : 2), "\(text)")
        #expect(text.contains("\"times\":3") != isOmitted && !text.contains("\"ended\""), "\(text)")
    }

    @Test("The answers of a file are counted in the recording, although its limit leaves no room for a higher number")
    func fullCounts() throws {
        let log = try makeLog(limit: 3000)
        for _ in 0..<100 { log.observe(.answered(head, byteCount: 1), of: request, by: nil) }
        try log.save()
        let text = try text()
        #expect(text.contains("\"times\":100") && log.summary.omittedRequestCount == 0, "\(text)")
    }

    @Test("A load in progress is written at the end, and says that it has not ended")
    func unfinished() throws {
        let (log, load) = (try makeLog(), Load())
        log.observe(.asked, of: request, by: load)
        try log.save()
        #expect(try count() == 0)
        try log.end()
        #expect(try text().contains("\"ended\":\"not yet\""))
    }

    /// A delegate, as its task retains it.
    private final class Owner: Sendable {
        let log: RecordingLog
        let ends: Counter

        init(_ log: RecordingLog, _ ends: Counter) { (self.log, self.ends) = (log, ends) }

        deinit {
            try? log.save()
            ends.increment()
        }
    }

    @Test("An object that a load released last may use the recording in its deinit", arguments: [false, true])
    func owners(isRecordingEnded: Bool) async throws {
        let log = try makeLog()
        let ends = Counter()
        // The step of the second object belongs to no known load.
        for step: RequestStep in [.asked, .challenged] {
            let owner = Owner(log, ends)
            log.observe(step, of: request, by: owner)
            log.observe(.ended(nil), of: request, by: owner)
        }
        if isRecordingEnded { try log.end() }
        try await wait(for: "the end of both objects") {
            try log.save()
            return ends.value == 2
        }
    }

    @Test("A recording ends when another recording of its cache or to its file begins, or when it is stopped")
    func replaced() throws {
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
        let (first, other) = try (folder.cache("{}"), folder.cache("{}"))
        for (cache, path) in [(first, "app.har"), (first, "next.har"), (other, "link/app.har"), (first, "stop")] {
            let next = folder.url.appendingPathComponent(path)
            let old = try first.record(to: file, options: Self.options)
            let observer = first.observer
            try Self.load("before", in: observer)
            if path == "stop" { try old.stop() } else { try cache.record(to: next, options: Self.options) }
            try Self.load("after", in: observer)
            try old.save()
            #expect(try text().contains("before") != path.hasSuffix("app.har") && !text().contains("after"), "\(path)")
            if path == "stop" { continue }
            try Self.load("new", in: cache.observer)
            (cache.observer as? RecordingLog)?.saveBeforeExit()
            #expect(try String(contentsOf: next, encoding: .utf8).contains("new"), "\(path)")
        }
        // If the next recording cannot begin, the old one goes on.
        let recording = try first.record(to: file, options: Self.options)
        #expect(throws: RecordingProblem.self) { try first.record(to: folder.url.appendingPathComponent("no/app.har")) }
        try Self.load("on", in: first.observer)
        try recording.save()
        #expect(try text().contains("on"))
    }

    @Test("A body is recorded with the head before it, and never with a later one")
    func bodies() throws {
        func head(_ status: Int) throws -> HTTPURLResponse { try Self.response(of: url, status) }
        func part(_ text: String) -> RequestStep { .receivedPart(Data(text.utf8)) }
        let next = URLRequest(url: try #require(URL(string: "https://example.com/next")))
        let cases: [(steps: [RequestStep], bodies: [String?])] = try [
            ([.received(head(401)), part("no"), .received(head(200)), part("yes")], ["yes"]),
            ([.received(head(401)), part("no"), .received(head(401)), part("nor"), .received(head(200))], [nil]),
            ([.received(head(200)), part("a"), .received(head(200)), part("b"), part("c")], ["bc"]),
            ([.received(head(302)), part("no"), .redirected(head(302), to: next), .received(head(200))], [nil, nil]),
        ]
        for (index, (steps, bodies)) in cases.enumerated() {
            let cache = try folder.cache("{}")
            let recording = try cache.record(to: file, options: Self.options)
            Self.observe([.asked, .sent(request)] + steps + [.ended(nil)], of: url, cache.observer)
            try recording.save()
            let found = try entries().map { entry in
                let content = (entry["response"] as? [String: Any])?["content"] as? [String: Any]
                return (content?["text"] as? String).flatMap { Data(base64Encoded: $0) }
            }
            #expect(found.map { $0.map { String(decoding: $0, as: UTF8.self) } } == bodies, "case \(index)")
        }
    }

    @Test("A problem is told in one sentence with one full stop")
    func sentences() {
        for reason in ["No space left on device", "The file could not be saved."] {
            let text = "\(RecordingProblem.unwritten("/a.har", reason))"
            #expect(text.hasSuffix(reason.hasSuffix(".") ? reason : reason + "."))
        }
    }

    @Test("Once the recording is full, further URLs cost no memory")
    func full() throws {
        let log = try makeLog(limit: 5000)
        func load(_ numbers: Range<Int>) throws -> [Int] {
            for number in numbers {
                let head = try Self.load("\(number)", in: log)
                log.observe(.answered(head, byteCount: 9), of: URLRequest(url: try #require(head.url)), by: nil)
                try log.save()
            }
            return [try count(), log.summary.misses.count]
        }
        let counts = try load(0..<100)
        #expect(counts.allSatisfy { (1..<50).contains($0) }, "\(counts)")
        #expect(try load(100..<200) == counts)
        #expect(log.summary.requestCount == 400 && log.summary.omittedRequestCount == 400 - counts[0])
    }

    // Only macOS and Linux can start processes.
    #if os(macOS) || os(Linux)
    @Test("The last requests are written when the process exits, however early that is")
    func exits() async throws {
        let path = folder.url.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let folder = URL(fileURLWithPath: path)
            for number in 0..<11 { try Data("a".utf8).write(to: folder.appendingPathComponent("\(number).txt")) }
            let manifest = Data("{ \"https://example.com/\": \"./\" }".utf8)
            let cache = try SubstitutionCache(manifestData: manifest, folder: folder)
            cache.install()
            let recording = try cache.record(to: folder.appendingPathComponent("app.har"))
            for number in 0..<11 {
                let url = try #require(URL(string: "https://example.com/\(number).txt"))
                _ = try await URLSession.shared.data(from: url)
            }
            guard recording.summary.requestCount == 11 else { exit(1) }
            exit(0)
        }
        #expect(try count() == 11)
    }

    @Test("The file is whole after the process was killed at any moment", arguments: 0..<(Program.isLongRun ? 100 : 15))
    func killed(number: Int) async throws {
        let (path, milliseconds) = (folder.url.path, UInt32.random(in: 0..<40))
        try Data().write(to: file)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, milliseconds = milliseconds as UInt32] in
            let folder = URL(fileURLWithPath: path)
            try Self.record(in: folder, count: 1)
            Thread {
                usleep(1000 * milliseconds)
                kill(getpid(), SIGKILL)
            }.start()
            while true { try Self.record(in: folder, count: 2000) }
        }
        _ = try count()
        func names() throws -> [String] {
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
            return names.filter { $0.hasSuffix("har") || $0.hasPrefix(".") }
        }
        #expect(try names().count <= 2)
        // The next recording removes the unfinished file that the killed process left.
        try Self.record(in: folder.url, count: 1)
        #expect(try names() == ["app.har"])
    }
    #endif
}

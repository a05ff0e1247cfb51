import Foundation
import LocalSubstitutionCache
import LoopbackServer

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Uses the library a million times, as a long-lived app would.
///
/// Checks that no answer is wrong, and that memory and the number of open descriptors do not grow.
@main
struct Soak {
    static let help = """
        USAGE: swift run -c release --package-path Benchmarks Soak [LOADS]

        Makes so many loads (1,000,000 by default) of substituted URLs and of others, over many sessions, with
        reloads, resets, removals and cancelled tasks in between. Prints how much memory and how many file descriptors the
        process has meanwhile. Exits with 1 when an answer is wrong, or when either has grown.
        """

    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let loads = arguments.isEmpty ? 1_000_000 : Int(arguments.first ?? ""), arguments.count < 2, loads > 0
        else {
            print(help)
            exit(arguments.contains("--help") || arguments.contains("-h") ? 0 : 2)
        }
        let soak = try Soak()
        defer { soak.end() }
        try soak.run(loads)
    }

    private static let entries = 200
    private let folder: URL
    private let manifest: URL
    private let server: LoopbackServer
    private let cache: SubstitutionCache
    private let bodies: [Data]

    private init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("Soak-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        manifest = folder.appendingPathComponent("manifest.json")
        // The library reads the smaller files, and maps the larger ones.
        bodies = (0..<Self.entries).map { number in
            Data((0..<(number * 400 + 1)).map { UInt8(truncatingIfNeeded: $0 ^ number) })
        }
        server = try LoopbackServer { request in
            request.path.hasPrefix("/when") ? .text("refused", status: 503) : .text("network \(request.path)")
        }
        var lines: [String] = []
        for (number, body) in bodies.enumerated() {
            try body.write(to: folder.appendingPathComponent("\(number).bin"))
            lines.append("\"\(server.url.absoluteString)/file/\(number)\": \"\(number).bin\"")
            let conditional = "{ \"file\": \"\(number).bin\", \"when\": [\"5xx\", \"offline\"] }"
            lines.append("\"\(server.url.absoluteString)/when/\(number)\": \(conditional)")
        }
        try Data("{\(lines.joined(separator: ",\n"))}".utf8).write(to: manifest)
        cache = try SubstitutionCache(manifest: manifest)
        cache.install()
    }

    private func end() {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    private func run(_ loads: Int) throws {
        print("loads      wrong  cancelled  memory    descriptors")
        let perRound = 500
        let rounds = max(1, loads / perRound)
        let counts = Counts()
        var marks: [(memory: Double, descriptors: Int)] = []
        for round in 0..<rounds {
            try autoreleasing { try self.round(perRound, round, counts) }
            server.forgetRequests()
            if (round + 1) % max(1, rounds / 20) == 0 {
                let mark = (Self.megabytes, Self.descriptors)
                marks.append(mark)
                let (wrong, cancelled) = counts.values
                let columns = [
                    "\((round + 1) * perRound)", "\(wrong)", "\(cancelled)", "\(Int(mark.0)) MB", "\(mark.1)",
                ]
                let widths = [11, 7, 11, 10, 1]
                print(
                    zip(columns, widths).map { $0.padding(toLength: max($1, $0.count), withPad: " ", startingAt: 0) }
                        .joined()
                )
            }
        }
        // Leave out the first fifth: it fills the system's pools and caches. Compare maxima, because the number of open
        // sockets changes all the time.
        let settled = marks.dropFirst(marks.count / 5)
        let (early, late) = (settled.prefix(settled.count / 2), settled.suffix((settled.count + 1) / 2))
        let memory = (late.map(\.memory).max() ?? 0) - (early.map(\.memory).max() ?? 0)
        let descriptors = (late.map(\.descriptors).max() ?? 0) - (early.map(\.descriptors).max() ?? 0)
        print(
            String(
                format: "The most of the last two fifths against the two before: %+.1f MB, %+d descriptors",
                memory,
                descriptors
            )
        )
        if counts.values.wrong > 0 || memory > 10 || descriptors > 5 {
            print("This is not as it should be.")
            exit(1)
        }
    }

    /// Runs one round: creates sessions, loads URLs, and does what an app may do to its cache and sessions.
    private func round(_ count: Int, _ round: Int, _ counts: Counts) throws {
        let throughCache = URLSessionConfiguration.ephemeral
        throughCache.urlCache = cache
        let throughProtocol = URLSessionConfiguration.ephemeral
        throughProtocol.useSubstitutions()
        let sessions = [throughCache, throughProtocol].map { URLSession(configuration: $0) } + [URLSession.shared]
        let done = DispatchGroup()
        let free = DispatchSemaphore(value: 16)
        for index in 0..<count {
            let number = (index &* 7 &+ round) % Self.entries
            // Of every hundred loads, the network answers two. Files answer the others, except those that are
            // cancelled. One of these files answers after an error status from the network.
            let (path, expected) =
                switch index % 100 {
                case 0, 50: ("/other/\(number)", Data("network /other/\(number)".utf8))
                case 25: ("/when/\(number)", bodies[number])
                default: ("/file/\(number)", bodies[number])
                }
            let session = path.hasPrefix("/when") ? sessions[1] : sessions[index % 3]
            guard let url = URL(string: server.url.absoluteString + path) else { continue }
            free.wait()
            done.enter()
            let task = session.dataTask(with: url) { data, _, error in
                counts.count(data == expected, error)
                free.signal()
                done.leave()
            }
            task.resume()
            // Foundation on Linux crashes if a task is cancelled while a cache answers the task. Cancel only tasks that
            // a protocol answers.
            if index % 40 == 1, session === sessions[1] { task.cancel() }
        }
        done.wait()
        switch round % 4 {
        case 0: try cache.reload()
        case 1: URLCache.shared.removeAllCachedResponses()
        case 2: cache.removeCachedResponse(for: URLRequest(url: server.url.appendingPathComponent("file/1")))
        default:
            let isReset = DispatchSemaphore(value: 0)
            sessions[0].reset { isReset.signal() }
            isReset.wait()
        }
        for session in sessions.dropLast() { session.finishTasksAndInvalidate() }
    }

    private func autoreleasing(_ body: () throws -> Void) rethrows {
        // Objective-C objects are released with their autorelease pool.
        #if canImport(ObjectiveC)
        try autoreleasepool(invoking: body)
        #else
        try body()
        #endif
    }

    /// The resident memory of the process, in megabytes.
    private static var megabytes: Double {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").compactMap { Double($0) }
        return pages.count > 1 ? pages[1] * Double(sysconf(Int32(_SC_PAGESIZE))) / 1e6 : 0
    }

    private static var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd"))?.count ?? 0
    }
}

/// The results of the loads.
// Mutable state is only accessed inside the lock.
private final class Counts: @unchecked Sendable {
    private let lock = NSLock()
    private var wrong = 0
    private var cancelled = 0

    func count(_ isRight: Bool, _ error: (any Error)?) {
        lock.withLock {
            if (error as? URLError)?.code == .cancelled { cancelled += 1 } else if !isRight { wrong += 1 }
        }
    }

    var values: (wrong: Int, cancelled: Int) { lock.withLock { (wrong, cancelled) } }
}

import Foundation
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A measurement of memory, or of the start of an app; it needs a separate process.
enum Child: String {
    /// Prints the growth of the resident memory in bytes: first until the load ends, then until the background work
    /// ends.
    case memory
    /// Prints the time of the initialiser and the processor time of the background work, in milliseconds.
    case launch
    /// Prints the milliseconds for the load, for the installation and for the first answer.
    case start
    /// Prints the growth of the resident memory in bytes while Foundation's objects for all files are created.
    case leastMemory
    /// Prints how long it takes to create Foundation's objects for all files, in milliseconds.
    case leastStart
    /// Prints nothing and ends, so that the benchmark can measure the start of the process alone.
    case nothing

    private static let argument = "--child"

    /// Runs the measurement that the arguments specify; returns false if the arguments specify no measurement.
    static func runIfAsked(_ arguments: [String]) throws -> Bool {
        guard arguments.count == 3, arguments[0] == argument, let child = Child(rawValue: arguments[1]) else {
            return false
        }
        let manifest = URL(fileURLWithPath: arguments[2])
        switch child {
        case .memory:
            _ = try? SubstitutionCache(manifestData: Data("{}".utf8), folder: manifest.deletingLastPathComponent())
            let before = residentBytes()
            let cache = try SubstitutionCache(manifest: manifest)
            print(residentBytes() - before)
            awaitBackground()
            print(residentBytes() - before)
            withExtendedLifetime(cache) {}
        case .launch:
            let start = DispatchTime.now().uptimeNanoseconds
            let cache = try SubstitutionCache(manifest: manifest)
            let loaded = DispatchTime.now().uptimeNanoseconds
            let time = processorTime()
            awaitBackground()
            print(Double(loaded - start) / 1e6, Double(processorTime() - time) / 1e6)
            withExtendedLifetime(cache) {}
        case .start:
            let start = DispatchTime.now().uptimeNanoseconds
            let cache = try SubstitutionCache(manifest: manifest)
            let loaded = DispatchTime.now().uptimeNanoseconds
            cache.install()
            let installed = DispatchTime.now().uptimeNanoseconds
            let done = DispatchSemaphore(value: 0)
            if let url = URL(string: "https://example.com/assets/images/picture7.png") {
                URLSession.shared.dataTask(with: url) { _, _, _ in done.signal() }.resume()
                done.wait()
            }
            let answered = DispatchTime.now().uptimeNanoseconds
            let times = [start, loaded, installed, answered]
            print(zip(times, times.dropFirst()).map { String(Double($1 - $0) / 1e6) }.joined(separator: " "))
        case .leastMemory, .leastStart:
            let folder = manifest.deletingLastPathComponent()
            let count = try FileManager.default.contentsOfDirectory(atPath: folder.path).count - 1
            let before = residentBytes()
            let start = DispatchTime.now().uptimeNanoseconds
            let responses = (0..<count).compactMap { number in
                URL(string: "https://example.com/assets/images/picture\(number).png").flatMap {
                    Loading.leastResponse(to: $0, path: folder.appendingPathComponent("file\(number).png").path)
                }
            }
            let time = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e6
            print(child == .leastStart ? time : Double(residentBytes() - before))
            withExtendedLifetime(responses) {}
        case .nothing:
            break
        }
        return true
    }

    /// Runs this program as a child; returns the time in milliseconds, and the numbers that the child printed.
    func run(_ manifest: URL) throws -> (milliseconds: Double, numbers: [Double]) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [Self.argument, rawValue, manifest.path]
        let output = Pipe()
        process.standardOutput = output
        let start = DispatchTime.now().uptimeNanoseconds
        try process.run()
        // The output ends when the process exits. `waitUntilExit()` only checks for the exit every 50 ms.
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let time = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e6
        process.waitUntilExit()
        return (time, text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) })
    }

    /// Waits until this process has used almost no processor time for 100 ms.
    private static func awaitBackground() {
        var (time, quiet) = (processorTime(), 0)
        while quiet < 5 {
            usleep(20_000)
            let now = processorTime()
            quiet = now - time < 500_000 ? quiet + 1 : 0
            time = now
        }
    }

    /// The processor time of all threads of this process, in nanoseconds.
    private static func processorTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The resident memory of this process, in bytes.
    private static func residentBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let fields = text.split(separator: " ").compactMap { Int($0) }
        return fields.count > 2 ? fields[1] * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }

    static func memoryRows(isQuick: Bool) throws -> [MeasuredRow] {
        let large = try Fixture(count: 1000, size: 50_000)
        let megabytes = (try memory.run(large.manifest).numbers.first ?? .nan) / 1e6
        var rows = [
            MeasuredRow(
                name: "memory after loading 1,000 files",
                value: megabytes,
                unit: "MB",
                baseline: "before, in MB",
                ratio: megabytes,
                target: .atMost(5)
            )
        ]
        let count = isQuick ? 10_000 : 100_000
        let small = try Fixture(count: count, size: 200)
        let bytes = try memory.run(small.manifest).numbers.map { $0 / Double(count) - 200 }
        let least = (try leastMemory.run(small.manifest).numbers.first ?? .nan) / Double(count) - 200
        let baselines = [
            ("loaded", bytes.first ?? .nan, "the bytes, in KB", 1000, MeasuredRow.Target.atMost(1.1)),
            ("built", bytes.last ?? .nan, "the bytes, in KB", 1000, .atMost(2.3)),
            ("built", bytes.last ?? .nan, "Foundation's objects alone", least, .atMost(2)),
        ]
        rows += baselines.map { state, bytes, baseline, divisor, target in
            MeasuredRow(
                name: "memory of each of \(count) entries, \(state)",
                value: bytes,
                unit: "bytes",
                baseline: baseline,
                ratio: bytes / divisor,
                target: target
            )
        }
        return rows
    }

    /// Measures the initialiser on the caller's thread, and the background work that builds the responses.
    static func launchRows(isQuick: Bool) throws -> [MeasuredRow] {
        let counts = isQuick ? [100, 1000] : [100, 1000, 10_000, 100_000]
        let entries = try counts.map { count in
            try launchRow("\(count) entries of 1 KB", Fixture(count: count, size: 1000), rounds: count > 1000 ? 3 : 9)
        }
        if isQuick { return entries }
        let folder = try Fixture(count: 10_000, size: 10_000)
        try Data(#"{ "https://example.com/assets/images/": "./" }"#.utf8).write(to: folder.manifest)
        let large = try Fixture(count: 20_000, size: 50_000)
        let megabytes = try memory.run(large.manifest).numbers.map { $0 / 1e6 }
        return try entries + [
            launchRow("a folder of 10000 files of 10 KB", folder, rounds: 3),
            launchRow("1 GB in 20000 files", large, rounds: 3),
        ]
            + zip(["loaded", "built"], megabytes).map { state, megabytes in
                MeasuredRow(
                    name: "resident for 1 GB in 20000 files, \(state)",
                    value: megabytes,
                    unit: "MB",
                    baseline: "before, in MB",
                    ratio: megabytes,
                    target: nil
                )
            }
    }

    private static func launchRow(_ name: String, _ fixture: Fixture, rounds: Int) throws -> MeasuredRow {
        let runs = try (0..<rounds).map { _ in try launch.run(fixture.manifest).numbers }
        let times = (0..<2).map { index in median(runs.map { $0.count > index ? $0[index] : .nan }) }
        return MeasuredRow(
            name: "launch, \(name)",
            value: times[0],
            unit: "ms",
            baseline: "background",
            ratio: times[0] / times[1],
            target: nil
        )
    }

    static func startRows(rounds: Int) throws -> [MeasuredRow] {
        let fixture = try Fixture(count: 1000, size: 10_000)
        let runs = try (0..<rounds).map { _ in
            (
                start: try start.run(fixture.manifest), nothing: try nothing.run(fixture.manifest),
                least: try leastStart.run(fixture.manifest)
            )
        }
        let whole = median(runs.map(\.start.milliseconds))
        let part = { (index: Int) in median(runs.map { $0.start.numbers.dropFirst(index).first ?? .nan }) }
        let parts = [
            ("process alone", median(runs.map(\.nothing.milliseconds))),
            ("loading", part(0)),
            ("Foundation's objects, built later", median(runs.map { $0.least.numbers.first ?? .nan })),
            ("install()", part(1)),
            ("first answer", part(2)),
        ]
        return parts.map { name, time in
            MeasuredRow(
                name: "app start, 1,000 entries: \(name)",
                value: time,
                unit: "ms",
                baseline: "the whole",
                ratio: time / whole,
                target: nil
            )
        }
    }
}

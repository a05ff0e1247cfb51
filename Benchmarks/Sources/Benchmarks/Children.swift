import Foundation
import LocalSubstitutionCache

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What is measured in a process of its own: memory, and the start of an app.
enum Child: String {
    /// Prints how many bytes became resident while a manifest was loaded.
    case memory
    /// Prints how many milliseconds of the start were spent on loading, on installing, and on the first answer.
    case start
    /// Prints how many bytes became resident while Foundation's objects alone were made for as many files.
    case leastMemory
    /// Prints how many milliseconds that took.
    case leastStart
    /// Starts and ends.
    case nothing

    private static let argument = "--child"

    /// Runs as a child if the arguments say so.
    static func runIfAsked(_ arguments: [String]) throws -> Bool {
        guard arguments.count == 3, arguments[0] == argument, let child = Child(rawValue: arguments[1]) else {
            return false
        }
        let manifest = URL(fileURLWithPath: arguments[2])
        switch child {
        case .memory:
            _ = try? LocalSubstitutionCache(manifest: Data("{}".utf8), folder: manifest.deletingLastPathComponent())
            let before = residentBytes()
            let cache = try LocalSubstitutionCache(manifest: manifest)
            print(residentBytes() - before)
            withExtendedLifetime(cache) {}
        case .start:
            let start = DispatchTime.now().uptimeNanoseconds
            let cache = try LocalSubstitutionCache(manifest: manifest)
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

    /// Runs this program as a child; the time it took in milliseconds, and the numbers that it printed.
    func run(_ manifest: URL) throws -> (milliseconds: Double, numbers: [Double]) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [Self.argument, rawValue, manifest.path]
        let output = Pipe()
        process.standardOutput = output
        let start = DispatchTime.now().uptimeNanoseconds
        try process.run()
        process.waitUntilExit()
        let time = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e6
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return (time, text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) })
    }

    /// What of this process is in memory, in bytes; private pages only, since those of mapped files can be dropped.
    private static func residentBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let fields = text.split(separator: " ").compactMap { Int($0) }
        return fields.count > 2 ? fields[1] * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }

    static func memoryRows(isQuick: Bool) throws -> [Row] {
        let large = try Fixture(count: 1000, size: 50_000)
        let megabytes = (try memory.run(large.manifest).numbers.first ?? .nan) / 1e6
        var rows = [
            Row(
                name: "resident after loading 1,000 files of 50 KB",
                value: megabytes,
                unit: "MB",
                baseline: "before, in MB",
                ratio: megabytes,
                target: .atMost(5)
            )
        ]
        let count = isQuick ? 10_000 : 100_000
        let small = try Fixture(count: count, size: 200)
        let bytes = (try memory.run(small.manifest).numbers.first ?? .nan) / Double(count) - 200
        let least = (try leastMemory.run(small.manifest).numbers.first ?? .nan) / Double(count) - 200
        let baselines = [
            ("the bytes themselves, in KB", bytes / 1000, Row.Target.atMost(2.5)),
            ("Foundation's objects alone", bytes / least, .atMost(2)),
        ]
        rows += baselines.map { baseline, ratio, target in
            Row(
                name: "resident for each of \(count) entries of 200 bytes",
                value: bytes,
                unit: "bytes",
                baseline: baseline,
                ratio: ratio,
                target: target
            )
        }
        return rows
    }

    static func startRows(rounds: Int) throws -> [Row] {
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
            ("process start and end, as without the library", median(runs.map(\.nothing.milliseconds))),
            ("loading the manifest and its files", part(0)),
            ("of that, what Foundation's objects alone take", median(runs.map { $0.least.numbers.first ?? .nan })),
            ("install(), which makes URLSession.shared", part(1)),
            ("the first answer, with URLSession.shared", part(2)),
        ]
        return parts.map { name, time in
            Row(
                name: "app start, 1,000 entries: \(name)",
                value: time,
                unit: "ms",
                baseline: "process start to first answer",
                ratio: time / whole,
                target: nil
            )
        }
    }
}

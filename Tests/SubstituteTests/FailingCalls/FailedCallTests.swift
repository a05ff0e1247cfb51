// Only Linux has the system calls that fail here.
#if os(Linux)
import Foundation
import TestSupport
import Testing

/// Tests in which one system call of an operation fails.
///
/// A `swift test` lets the first and the last call of two kinds fail, of other kinds in the next operation, and the
/// tool's calls of `write` and `rename`. A long run
/// lets every call fail with every error, and prints how many runs there were.
@Suite("Any one system call may fail", .enabled(if: FailingProgram.isAvailable, "needs a C compiler"), .serialized)
struct FailedCallTests {
    @Test("After a failed call, everything is old or new, and the operation says so", arguments: FailingOperation.all)
    func calls(operation: FailingOperation) async throws {
        let sweep = try await FailingSweep(operation, RemoteSite())
        let counts = sweep.undisturbed.counts
        let kinds = FailingCall.errors.filter { counts[$0.kind] != nil }
        try #require(!kinds.isEmpty)
        let place = FailingOperation.all.firstIndex { $0.name == operation.name } ?? 0
        var runs = 0
        let sample = Set([place, place + kinds.count / 2].map { kinds[$0 % kinds.count].kind })
        let always = operation.arguments == nil ? [] : ["write", "rename"]
        for (kind, errors) in kinds where Program.isLongRun || sample.contains(kind) || always.contains(kind) {
            let count = counts[kind, default: 0]
            for error in errors.prefix(Program.isLongRun ? errors.count : 1) {
                for number in Program.isLongRun ? Set(1...count) : [1, count] {
                    let call = FailingCall(kind: kind, number: number, error: error)
                    let problems = try await sweep.problems(with: call)
                    #expect(problems.isEmpty, "\(operation.name), \(call): \(problems.joined(separator: "\n"))")
                    runs += 1
                }
            }
        }
        if Program.isLongRun { print("failed calls: \(operation.name): \(runs)") }
    }
}

/// The runs of one operation.
private struct FailingSweep {
    let operation: FailingOperation
    let site: RemoteSite
    let program: FailingProgram
    /// A copy of what the operation begins with.
    let original: TemporaryFolder
    let old: [String: Data]
    /// The outcome of a run in which no call fails.
    let undisturbed: FailingProgram.Outcome

    init(_ operation: FailingOperation, _ site: RemoteSite) async throws {
        (self.operation, self.site, program, original) = (operation, site, try FailingProgram(), try TemporaryFolder())
        let temporary = program.folder.appendingPathComponent("tmp")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
        try await operation.prepare(program.folder, site)
        let copy = original.url.appendingPathComponent("copy")
        try FileManager.default.copyItem(at: program.folder, to: copy)
        old = try FailingProgram.listing(of: program.folder)
        undisturbed = try await Self.run(operation, program, site, nil)
        try #require(undisturbed.result.status == 0, "\(undisturbed.result)")
    }

    private static func run(
        _ operation: FailingOperation,
        _ program: FailingProgram,
        _ site: RemoteSite,
        _ call: FailingCall?
    ) async throws -> FailingProgram.Outcome {
        if let arguments = operation.arguments {
            return try await program.run(Tool.url, arguments(site), call, waits: false)
        }
        let app = Tool.url.deletingLastPathComponent().appendingPathComponent("FailingCallsApp")
        return try await program.run(app, [operation.name, program.folder.path], call, waits: true)
    }

    /// Lets a call fail, and returns what is wrong afterwards, in words.
    func problems(with call: FailingCall) async throws -> [String] {
        try program.restore(original.url.appendingPathComponent("copy"))
        let outcome = try await Self.run(operation, program, site, call)
        guard let failed = outcome.failedPath else { return ["the program did not make this call"] }
        let (result, new) = (outcome.result, undisturbed.listing)
        let told = result.errors + result.output
        var (problems, leftovers): ([String], [String]) = ([], [])
        // The tool's statuses.
        if !(0...3).contains(result.status) { problems.append("crashed, or hung for two minutes") }
        for path in Set(outcome.listing.keys).union(old.keys).union(new.keys).sorted() {
            let content = outcome.listing[path]
            if content == old[path] || content == new[path] || operation.isWhole(path, content) { continue }
            if FailingOperation.isLeftover(path) { leftovers.append(path) } else { problems.append("half: \(path)") }
        }
        if result.status == 0 {
            leftovers += outcome.listing.keys.filter { new[$0] == nil && FailingOperation.isLeftover($0) }
        }
        let state = outcome.listing.filter { !leftovers.contains($0.key) }
        let isTold =
            told.contains(call.reason) || operation.isUnclear(call) && result.status != 0
            || state.values.contains { $0.range(of: Data(call.reason.utf8)) != nil }
        if result.status == 0 {
            let isUsual = result.output == undisturbed.result.output && state == new
            let isRight = isUsual || operation.otherOutput == result.output || isTold
            // Foundation does not call again while it removes the folder that an app has replaced.
            let isRemoved = state == outcome.listing || operation.arguments == nil
            if call.error == EINTR, !isUsual || !isRemoved { problems.append("it was not called again") }
            if !isRight { problems.append("done, but different: \(differences(state, new))") }
        } else if call.error == EINTR {
            problems.append("it was not called again")
        } else if operation.arguments == nil {
            let isUnchanged = ["", operation.outputOfFailure].contains(result.output)
            if !isUnchanged { problems.append("the failure has an effect") }
        } else if state != old, !isTold {
            problems.append("not old, and not told: \(differences(state, old))")
        }
        if result.status != 0 {
            let names = failed.split(separator: "/").suffix(2).map(String.init) + operation.subjects
            if !names.contains(where: told.contains) { problems.append("the message does not name a file") }
            if !isTold { problems.append("the message has no reason") }
        }
        if operation.arguments != nil, outcome.listing != old, outcome.listing != new {
            let again = try await Self.run(operation, program, site, nil)
            if again.result.status != 0 || again.listing != new {
                problems.append("the next run: \(again.result), \(differences(again.listing, new))")
            }
        }
        return problems.isEmpty ? [] : problems + ["the call for \(failed) failed; \(result)"]
    }

    private func differences(_ some: [String: Data], _ others: [String: Data]) -> String {
        Set(some.keys).union(others.keys).sorted().filter { some[$0] != others[$0] }.map { path in
            "\(path): \(some[path]?.count ?? -1) for \(others[path]?.count ?? -1) bytes"
        }.joined(separator: ", ")
    }
}
#endif

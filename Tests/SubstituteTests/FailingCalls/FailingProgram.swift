// Only Linux has the system calls that fail here.
#if os(Linux)
import Foundation
import TestSupport
import Testing

/// A system call that fails: the n-th of its kind that concerns a path below the operation's folder.
struct FailingCall: CustomStringConvertible {
    let kind: String
    let number: Int
    let error: Int32

    var description: String { "\(kind) \(number) (\(reason))" }

    /// The errors with which the calls of each kind fail.
    static let errors: [(kind: String, errors: [Int32])] = [
        ("open", [EMFILE, EACCES, EINTR, ENOSPC]), ("read", [EIO, EINTR]), ("mmap", [ENOMEM, EACCES]),
        ("write", [ENOSPC, EIO, EINTR]), ("fsync", [EIO, ENOSPC, EINTR]), ("rename", [ENOSPC, EIO, EACCES]),
        ("unlink", [EIO, EACCES]), ("stat", [EIO, EACCES]), ("list", [EIO, EACCES]), ("mkdir", [ENOSPC, EACCES]),
        ("link", [EIO, EACCES]), ("malloc", [ENOMEM]), ("place", [EACCES, ENOENT]),
    ]

    /// The reason that a message gives.
    var reason: String {
        switch (kind, error) {
        case ("malloc", _): "there is not enough memory"
        case ("place", ENOENT): "/proc must be mounted"
        default: String(cString: strerror(error))
        }
    }
}

/// Runs programs with a library that counts their system calls, and lets one of them fail.
struct FailingProgram {
    /// The preloaded library; a problem if it cannot be compiled.
    private static let library = Task {
        let compiler = try #require(FailingProgram.compiler)
        let library = TemporaryFolder.ofProcess.appendingPathComponent("FailingCalls.so").path
        let source = Repository.folder.appendingPathComponent("Tests/FailingCalls/FailingCalls.c").path
        let options = ["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, source]
        let result = try await Program.run(compiler, options)
        try #require(result.status == 0, "\(result.errors)")
        return library
    }

    /// The path of a C compiler; nil if there is none.
    private static let compiler = Program.find("clang", "cc")

    /// True if the library can be compiled, or must be.
    static let isAvailable = compiler != nil || Program.isEverythingRequired

    /// The outcome of a run.
    struct Outcome {
        let result: Program.Result
        /// Everything in the operation's folder afterwards, keyed by path.
        let listing: [String: Data]
        /// The number of calls of each kind.
        let counts: [String: Int]
        /// The path of the call that failed; nil if the program made fewer calls.
        let failedPath: String?
    }

    private let scratch: TemporaryFolder
    /// The operation's folder; only calls that concern a path below it are counted.
    let folder: URL

    init() throws {
        scratch = try TemporaryFolder()
        folder = scratch.url.resolvingSymlinksInPath().appendingPathComponent("work")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Runs a program in the folder, and lets a call fail.
    ///
    /// - Parameters:
    ///   - program: The program; its tests' limit of time is two minutes, after which it is killed.
    ///   - arguments: The program's arguments.
    ///   - call: The call that fails; nil to let none fail.
    ///   - waits: True if the program itself says when counting begins and ends.
    /// - Returns: The outcome.
    /// - Throws: An error if the library cannot be compiled, or the program cannot be started.
    func run(_ program: URL, _ arguments: [String], _ call: FailingCall?, waits: Bool) async throws -> Outcome {
        let log = scratch.url.appendingPathComponent("log")
        try Data().write(to: log)
        var variables = [
            "LD_PRELOAD": try await Self.library.value, "FAILING_FOLDER": folder.path, "FAILING_LOG": log.path,
            "TMPDIR": folder.appendingPathComponent("tmp").path, "SWIFT_BACKTRACE": "enable=no",
        ]
        if waits { variables["FAILING_WAITS"] = "1" }
        variables["FAILING_CALL"] = call?.kind
        variables["FAILING_NUMBER"] = call.map { "\($0.number)" }
        variables["FAILING_ERROR"] = call.map { "\($0.error)" }
        // `env` sets the variables for the program alone, and not for `timeout`.
        let settings = variables.map { name, value in "\(name)=\(value)" }
        let line = ["-s", "KILL", "120", "env"] + settings + [program.path] + arguments
        let result = try await Program.run(#require(Program.find("timeout")), line, in: folder)
        let lines = String(decoding: try Data(contentsOf: log), as: UTF8.self).split(separator: "\n")
        let counts = Dictionary(grouping: lines) { line in String(line.prefix { $0 != " " }) }.mapValues(\.count)
        let failed = lines.first { $0.hasPrefix("!") }.map { line in String(line.drop { $0 != " " }.dropFirst()) }
        return Outcome(result: result, listing: try Self.listing(of: folder), counts: counts, failedPath: failed)
    }

    /// Returns everything below a folder, without what differs from run to run.
    static func listing(of folder: URL) throws -> [String: Data] {
        var result: [String: Data] = [:]
        for (path, content) in try SiteFolder.listing(of: folder) {
            if path.hasSuffix(".offlinecopy") {
                // Its name depends on the server's port; the app itself shows whether it is whole.
                let count = result.keys.count { $0.hasPrefix("Offline/copy ") }
                result["Offline/copy \(count)"] = Data()
            } else if path.hasSuffix(".har") {
                let urls = String(decoding: content, as: UTF8.self).matches(of: /"url":"([^"]*)"/).map(\.1)
                let isWhole = (try? JSONSerialization.jsonObject(with: content)) != nil
                result[path] = Data("\(isWhole ? "whole" : "broken"): \(urls.joined(separator: " "))".utf8)
            } else if path.hasSuffix(".html") {
                let text = String(decoding: content, as: UTF8.self)
                result[path] = Data(text.replacing(/nonce[-=]"?[0-9A-F-]+|substitute: [0-9a-f-]+/, with: "").utf8)
            } else {
                result[path] = content
            }
        }
        return result
    }

    /// Replaces everything in the folder with a copy of another folder.
    func restore(_ original: URL) throws {
        try FileManager.default.removeItem(at: folder)
        try FileManager.default.copyItem(at: original, to: folder)
    }
}
#endif

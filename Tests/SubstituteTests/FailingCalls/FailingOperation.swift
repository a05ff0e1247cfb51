// Only Linux has the system calls that fail here.
#if os(Linux)
import Foundation
import TestSupport
import Testing

/// An operation of the library or of the tool, during which system calls fail.
struct FailingOperation: Sendable, CustomTestStringConvertible {
    let name: String
    /// The arguments of the tool; nil for an operation of the app `FailingCallsApp`.
    var arguments: (@Sendable (RemoteSite) -> [String])?
    /// Writes what the operation begins with.
    let prepare: @Sendable (URL, RemoteSite) async throws -> Void
    /// An output that is right, too, if a call has failed: the library reports no error to the app then.
    var otherOutput: String?

    /// The output of the app after a failure.
    var outputOfFailure = ""
    /// The names of what the operation writes; a message may name one of them in place of the path of the call.
    var subjects: [String] = []

    var testDescription: String { name }

    /// True for a content that is neither the one before nor the one after the operation, but is complete.
    func isWhole(_ path: String, _ content: Data?) -> Bool {
        switch name {
        // The app saves once before calls fail.
        case "save": content == Data("whole: https://example.com/small.txt".utf8)
        // Without a file, the page shows this.
        // Each file is updated for itself; the record knows those that were.
        case "update": path.hasSuffix(".json") && (try? JSONSerialization.jsonObject(with: content ?? Data())) != nil
        case "preview": path == "page.html" && content?.suffix(8).contains(UInt8(ascii: ">")) == true
        default: false
        }
    }

    // MARK: - What cannot be better

    /// True for a file that stays if the call for its removal fails.
    ///
    /// The next run of the tool removes a file of the tool. Its name begins with ".", so nothing ships it. The folder
    /// that an app has replaced stays beside where the adopted one was. So does a copy whose removal an archive has
    /// reported as failed.
    static func isLeftover(_ path: String) -> Bool {
        path.split(separator: "/").contains { $0.hasPrefix(".") && $0.hasSuffix("substitute") }
            || path.hasPrefix("Offline/copy ")
            || path.hasPrefix(".") && UUID(uuidString: String(path.dropFirst().prefix(36))) != nil
    }

    /// True if the message may have no reason, because a call that examines a file has failed.
    ///
    /// The tool refuses to go on if it does not know what is at a path, and says what it expected there. If Foundation
    /// cannot examine the temporary file of an atomic write, it says that the file does not exist.
    func isUnclear(_ call: FailingCall) -> Bool { call.kind == "stat" && arguments != nil }

    static let all = app + newer + tool + outputs

    // MARK: - The app

    /// An archive keeps what it can.
    private static let otherOutputs = [
        "store": "online: 50000 × 2\noffline: 50000 × 1\n", "replay": "offline: nothing\nagain: 50000 × 1\n",
        "remove": "failed\noffline: nothing\n",
    ]

    private static let app = ["load", "range", "store", "replay", "remove", "save"].map { name in
        FailingOperation(
            name: name,
            prepare: { folder, _ in
                try write("{ \"https://example.com/\": \"./\" }", to: "manifest.json", in: folder)
                for (name, count) in [("small.txt", 1), ("deep/middle.css", 20_000), ("large.bin", 300_000)] {
                    try write(String(repeating: String(name.prefix(1)), count: count), to: name, in: folder)
                }
            },
            otherOutput: otherOutputs[name],
            subjects: ["app.har"]
        )
    }

    /// The operations of an app with a bundle and a newer folder.
    private static let newer = ["choose", "adopt"].map { name in
        FailingOperation(
            name: name,
            prepare: { folder, _ in
                let folders = [("App.bundle/Substitutions", 1), ("Application Support/downloads", 2), ("incoming", 3)]
                for (path, version) in folders { try writeSet(version, to: path, in: folder) }
            },
            outputOfFailure: "2: a2 b2 \n"
        )
    }

    /// Writes a folder with a manifest and two files.
    static func writeSet(_ version: Int, _ text: String? = nil, to path: String, in folder: URL) throws {
        let manifest = "{ \"$version\": \(version), \"https://example.com/\": \"./\" }"
        try write(manifest, to: "\(path)/manifest.json", in: folder)
        for name in ["a", "b"] { try write(text ?? "\(name)\(version)", to: "\(path)/\(name).txt", in: folder) }
    }

    // MARK: - The tool

    private static let tool = [
        FailingOperation(name: "init", arguments: { _ in ["init"] }, prepare: { _, _ in }),
        FailingOperation(
            name: "add",
            arguments: { ["add", "Substitutions"] + urls($0) },
            prepare: { try await prepareFiles($0, $1) },
            subjects: ["Substitutions"]
        ),
        FailingOperation(
            name: "update",
            arguments: { _ in ["update", "Substitutions"] },
            prepare: { folder, site in
                try await prepareFiles(folder, site)
                _ = await Tool.run(["add", "Substitutions"] + urls(site), in: folder)
                for path in paths { site.set(path, "b { new: \(path) }\n", type: "text/css") }
            },
            subjects: ["Substitutions"]
        ),
    ]

    /// The commands that write over what they have written.
    private static let outputs = [("preview", "page.html"), ("extension", "Shown")].map { name, output in
        FailingOperation(
            name: name,
            arguments: { _ in [name, "Substitutions", "-o", output] },
            prepare: { folder, site in
                try await prepareFiles(folder, site)
                _ = await Tool.run([name, "Substitutions", "-o", output], in: folder)
                try write("d { background: url(c.css) }\n", to: "Substitutions/d.css", in: folder)
                let entries = ["c", "d"].map { "  \"https://example.com/\($0).css\": \"\($0).css\"" }
                let manifest = "{\n\(entries.joined(separator: ",\n"))\n}\n"
                try write(manifest, to: "Substitutions/manifest.json", in: folder)
            },
            subjects: [output]
        )
    }

    private static let paths = ["/a.css", "/deep/b.css"]

    private static func urls(_ site: RemoteSite) -> [String] { paths.map { site.url + $0 } }

    private static func prepareFiles(_ folder: URL, _ site: RemoteSite) async throws {
        for path in paths { site.set(path, "a { old: \(path) }\n", type: "text/css") }
        try write("{\n  \"https://example.com/c.css\": \"c.css\"\n}\n", to: "Substitutions/manifest.json", in: folder)
        try write("c { }\n", to: "Substitutions/c.css", in: folder)
    }

    private static func write(_ text: String, to path: String, in folder: URL) throws {
        let file = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }
}
#endif

// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("Every command")
struct EveryCommandTests {
    /// The words after the manifest on a command line of each command that works on one.
    private static let operands: [String: [String]] = [
        "capture": ["https://h/"], "import": ["page.har"], "add": ["https://h/x"], "outdated": [], "update": [],
        "check": [], "list": [], "explain": ["https://h/x"], "preview": [], "browse": ["https://h/"],
        "verify": ["https://h/"], "webextension": ["-o", "Out"],
    ]
    private static let names = operands.keys.sorted()
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("", to: "Package.swift")
    }

    /// Runs a command line, and expects that it changes no file.
    private func run(_ words: [String], input: Data? = nil) async throws -> Program.Result {
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).sorted()
        let result = await Tool.run(words, input: input, in: folder.url)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).sorted() == before)
        return result
    }

    /// Runs a command line, and expects that it tells a wrong use.
    private func expectUsageError(_ words: [String], _ beginning: String = "") async throws {
        let result = try await run(words)
        #expect(result.status == 2 && result.output == "", "\(words): \(result)")
        #expect(result.errors.hasPrefix("substitute \(words[0]): \(beginning)"), "\(result.errors)")
        #expect(result.errors.hasSuffix("\nSee substitute \(words[0]) --help.\n"), "\(result.errors)")
    }

    @Test("No command is missing here")
    func all() {
        #expect(Set(Self.names).union(["init", "schema", "completions"]) == Set(Command.all.map(\.name)))
    }

    @Test("Without a manifest, every command names the places where it looks", arguments: names)
    func noManifest(name: String) async throws {
        try await expectUsageError([name] + Self.operands[name, default: []], "there is no manifest here; the tool")
    }

    @Test("Every command tells an unknown option", arguments: Command.all.map(\.name))
    func unknownOption(name: String) async throws {
        try await expectUsageError([name, "--nonsense"], "there is no option \"--nonsense\"; ")
    }

    @Test(
        "Every command that takes a certain number of operands refuses one more",
        arguments: [
            "init a b", "import a b c", "outdated a b", "list a b", "preview a b", "browse a https://h/ https://i/",
            "webextension a b -o Out", "schema a", "completions bash zsh",
        ]
    )
    func surplusOperand(line: String) async throws {
        try await expectUsageError(line.components(separatedBy: " "))
    }

    @Test(
        "Every command tells all errors of a manifest in the same form, before anything else that is wrong",
        arguments: names.filter { $0 != "check" },
        [#"{ "https://h/a": "none.txt", "https://h/b": 5 }"#, "{", #"{ "name": "x", "scripts": {} }"#, nil]
    )
    func errors(name: String, manifest: String?) async throws {
        if let text = manifest { try folder.write(text, to: "manifest.json") }
        let words = [name, "./manifest.json"] + Self.operands[name, default: []]
        let result = try await run(words)
        // The page of the preview shows the errors of a manifest that can be read.
        if name == "preview", manifest != nil {
            #expect(result.status == 0 && result.errors == "" && result.output.contains("Nothing ships"))
            return
        }
        let checked = try await run(["check", "./manifest.json"])
        let errors = checked.output.components(separatedBy: "\n").filter { $0.contains(": error: ") }
        #expect(!errors.isEmpty && checked.status == 1 && checked.errors == "", "\(checked)")
        let last = "substitute \(name): the manifest has errors; fix them first\n"
        #expect(result.errors == errors.map { $0 + "\n" }.joined() + last)
        #expect(result.status == 1 && result.output == "", "\(result)")
    }

    @Test("Every command that reads standard input tells that it is closed", arguments: ["check", "explain", "import"])
    func closedInput(name: String) async throws {
        try folder.write("{}", to: "manifest.json")
        let result = try await run([name, "-"])
        #expect(
            result.status == 1 && result.output == "" && result.errors == "substitute \(name): the test has no input\n"
        )
    }
}
#endif

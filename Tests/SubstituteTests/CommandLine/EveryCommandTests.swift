// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("Every command")
struct EveryCommandTests {
    /// The words after the manifest on a command line of each command that works on one, with the old commands.
    private static let operands: [String: [String]] = [
        "add": ["https://h/x"], "add --in-browser": ["https://h/"], "add --only image": ["page.har"],
        "update": [], "update --dry-run": ["https://h/a"], "check": [], "explain": ["https://h/x"], "preview": [],
        "preview --format text": [], "browse": ["https://h/"], "verify": ["https://h/"], "extension": ["-o", "Out"],
    ]
    private static let names = operands.keys.sorted()

    /// Splits the beginning of a command line into its words; the first is the command that messages name.
    private static func words(of name: String) -> [String] { name.components(separatedBy: " ") }

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("", to: "Package.swift")
    }

    /// Runs a command line, and expects that it changes no file.
    private func run(_ words: [String]) async throws -> Program.Result {
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).sorted()
        let result = await Tool.run(words, in: folder.url)
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

    @Test("The help of a command has exactly the command's options", arguments: Command.all.map(\.name))
    func help(name: String) throws {
        let command = try #require(Command.all.first { $0.name == name })
        let lines = command.help.components(separatedBy: "\n")
        let rows = lines.compactMap { $0.firstMatch(of: #/^  (?:-(\w),|   ) --([a-z-]+)(?: ([A-Z]+))?  /#)?.output }
        let told = rows.map { "\($0.1 ?? "") \($0.2) \($0.3?.lowercased() ?? "")" }
        let known = command.allOptions.map { "\($0.short.map(String.init) ?? "") \($0.name) \($0.value ?? "")" }
        #expect(told == known)
        #expect(lines.contains { $0.hasPrefix("Usage: substitute \(name)") } && lines.allSatisfy { $0.count <= 120 })
    }

    @Test("The help of the tool names each command once, in the order of the code, and none is missing here")
    func overview() {
        let listed = Command.help(of: "substitute").matches(of: #/(?m)^  ([a-z]+) {2,}/#).map { String($0.1) }
        #expect(listed == Command.listed.map(\.name) && listed.count == 9)
        #expect(Set(Self.names.map { Self.words(of: $0)[0] }).union(["init"]) == Set(listed))
    }

    @Test("Without a manifest, every command names the places where it looks", arguments: names)
    func noManifest(name: String) async throws {
        let words = Self.words(of: name) + Self.operands[name, default: []]
        try await expectUsageError(words, "there is no manifest here; the tool")
    }

    @Test("Every command that takes a certain number of operands refuses one more")
    func surplusOperand() async throws {
        for line in [
            "init a b", "init --schema a", "add a b c.har", "preview a b", "preview --format json a b",
            "browse a https://h/ https://i/", "extension a b -o Out", "completions bash zsh",
        ] {
            try await expectUsageError(Self.words(of: line))
        }
    }

    private static let broken = [
        #"{ "https://h/a": "none.txt", "https://h/b": 5 }"#, "{", #"{ "name": "x", "scripts": {} }"#, nil,
    ]
    private static let others = names.filter { $0 != "check" }

    @Test("Every command tells all errors of a manifest in the same form", arguments: others, broken)
    func errors(name: String, manifest: String?) async throws {
        if let text = manifest { try folder.write(text, to: "manifest.json") }
        let words = Self.words(of: name) + ["./manifest.json"] + Self.operands[name, default: []]
        let result = try await run(words)
        // The page of the preview shows the errors of a manifest that can be read.
        if name == "preview", manifest != nil {
            #expect(result.status == 0 && result.errors == "" && result.output.contains("Nothing ships"))
            return
        }
        let checked = try await run(["check", "./manifest.json"])
        let errors = checked.output.components(separatedBy: "\n").filter { $0.contains(": error: ") }
        #expect(!errors.isEmpty && checked.status == 1 && checked.errors == "", "\(checked)")
        let last = "substitute \(words[0]): the manifest has errors; fix them first\n"
        #expect(result.errors == errors.map { $0 + "\n" }.joined() + last)
        #expect(result.status == 1 && result.output == "", "\(result)")
    }

    private static let misfits = [
        ("add --scroll https://h/", "--scroll is for --in-browser"),
        ("add --only image https://h/", "--only is for a recording (HAR) or --in-browser"),
        ("add --in-browser --as a https://h/", "--as is for URLs that are loaded without a browser"),
        ("add --with-references page.har", "--with-references is for URLs that are loaded without a browser"),
        ("preview --format text --serve", "--serve is for the page, and --format prints a list instead"),
        ("init -o schema.json", "--output is for --schema"), ("check --watch -", "--watch needs files"),
        ("preview --serve -o x.html none/manifest.json", "--serve writes no file"),
    ]

    @Test("An option that does not fit the others or the source of files is told", arguments: misfits)
    func misplaced(line: String, message: String) async throws {
        try folder.write("{}", to: "manifest.json")
        try await expectUsageError(Self.words(of: line), message)
    }
}
#endif

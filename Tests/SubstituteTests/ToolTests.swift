// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("substitute", .serialized)
struct ToolTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func run(_ arguments: [String], in path: String = ".") async throws -> Program.Result {
        await Tool.run(arguments, in: folder.url.appendingPathComponent(path))
    }

    private func writeSite(to path: String) throws {
        try folder.write("{ \"https://h/a.css\": \"a.css\" }", to: "\(path)manifest.json")
        try folder.write("a { }\n", to: "\(path)a.css")
    }

    // MARK: - Finding the manifest

    private static let places = [
        ("", "."), ("Substitutions/", "Substitutions"), ("Resources/Substitutions/", "."),
        ("Sources/App/Substitutions/", "Sources/App/Views"), ("Sources/App/Resources/Substitutions/", "."),
        ("MyApp/Substitutions/", "MyApp/Views"),
    ]

    @Test("Every command finds the only manifest, from any folder of the package", arguments: places)
    func found(place: String, standing: String) async throws {
        for name in ["Package.swift", "\(standing)/x.swift"] { try folder.write("", to: name) }
        try writeSite(to: place)
        for arguments in [["check"], ["preview", "--format", "text"], ["explain", "https://h/a.css"]] {
            let result = try await run(arguments, in: standing)
            let isRight = result.output.contains("a.css") || arguments == ["check"]
            #expect(result.status == 0 && isRight, "\(arguments): \(result)")
        }
    }

    @Test("The search for a manifest does not leave the package, or the current folder outside a package")
    func bounds() async throws {
        try writeSite(to: "Substitutions/")
        for name in ["package/Package.swift", "loose/deep/x"] { try folder.write("", to: name) }
        for place in ["package", "loose/deep"] {
            let result = try await run(["check"], in: place)
            let parts = ["there is no manifest here", "substitute init"]
            #expect(result.status == 2 && parts.allSatisfy(result.errors.contains), "\(result)")
        }
    }

    @Test("Several manifests are listed, and a folder can be named instead of its manifest")
    func several() async throws {
        for path in ["Substitutions/", "Sources/App/Substitutions/"] { try writeSite(to: path) }
        let result = try await run(["explain", "https://h/a.css"])
        let message = """
            substitute explain: there are several manifests here; name one:
              Substitutions/manifest.json
              Sources/App/Substitutions/manifest.json

            """
        #expect(result.status == 2 && result.errors.hasPrefix(message), "\(result)")
        for path in ["Substitutions", "Substitutions/", "Sources/App", "Sources/App/Substitutions/manifest.json"] {
            #expect(try await run(["check", path]).status == 0, "\(path)")
        }
    }

    // MARK: - The output of check

    @Test("Each format names the manifest and the position of each issue")
    func formats() async throws {
        let entries = [#""https://h/é": "b.css""#, #"  "https://h/a": { "file": "c.css", "when": 401 }"#]
        try folder.write("{ \(entries.joined(separator: ",\n")) }", to: "Substitutions/manifest.json")
        let github = try await run(["check", "--format", "github"])
        let start = "::error file=Substitutions/manifest.json,line="
        let lines = [
            "\(start)1,col=19,title=missing-file::\"b.css\" does not exist; add it, or correct the name",
            "\(start)2,col=28,title=missing-file::\"c.css\" does not exist",
        ]
        #expect(github.status == 1 && github.output.hasPrefix(lines.joined(separator: "\n")), "\(github)")
    }

    @Test("A limit counts no files of expired entries, and folder names cannot control a terminal")
    func budget() async throws {
        let entries = #""https://h/n": "new.txt", "https://h/o": { "file": "old.txt", "until": "2001-01-01" }"#
        try folder.write("{ \(entries) }", to: "manifest.json")
        for (name, count) in [("new", 2500), ("old", 5000)] {
            try folder.write(String(repeating: "x", count: count), to: "\(name).txt")
        }
        for limit in ["2.5kB", "1 MiB"] { #expect(try await run(["check", "--max-total", limit]).status == 0) }
        let over = try await run(["check", "--max-total=2499"])
        #expect(over.status == 1 && over.output.contains("the files have 2.5 kB in total"), "\(over)")
        #expect(!over.output.contains("\"old.txt\" ("))
        try writeSite(to: "a\u{1B}[31m/Substitutions/")
        #expect(try await !run(["check"]).errors.contains("\u{1B}"))
    }

    @Test("Unused files are reported by folder, and one by one with --all")
    func unused() async throws {
        try writeSite(to: "")
        for number in 0..<20 { try folder.write("x", to: "old/\(number % 4)/\(number).txt") }
        try folder.write("x", to: "b.txt")
        #expect(try await run(["check"]).output.contains("no errors, 2 warnings"))
        #expect(try await run(["check", "--all"]).output.contains("no errors, 21 warnings"))
    }

    // MARK: - Other commands

    @Test("A list has a row for each URL, as text or as JSON")
    func list() async throws {
        let entries = """
            { "https://h/a": { "file": "a.css", "when": ["offline", 404], "until": "2999-01-01" },
              "https://h/old": { "file": "a.css", "until": "2001-01-01" }, "//h/b": "a.css" }
            """
        try folder.write(entries, to: "manifest.json")
        try folder.write("a { }\n", to: "a.css")
        #expect(
            try await run(["preview", "--format", "text"]).output == """
                https://h/a  a.css  text/css; charset=utf-8  6 bytes  only when "offline" or 404, until 2999-01-01
                //h/b        a.css  text/css; charset=utf-8  6 bytes
                2 URLs, 1 file, 6 bytes: 1 text

                """
        )
        let rows = try await run(["preview", "--format", "json"]).output.components(separatedBy: "\n")
        let parts = ["\"url\":\"https://h/a\"", "\"when\":[\"offline\",\"404\"]", "\"until\":\"2999-01-01\""]
        #expect(parts.allSatisfy(rows[0].contains) && rows[1].contains("\"url\":\"//h/b\""), "\(rows)")
    }

    @Test("init creates a manifest without issues, and overwrites no file")
    func initialise() async throws {
        for name in ["Package.swift", "Sources/App/App.swift"] { try folder.write("", to: name) }
        let made = try await run(["init"])
        let advice = "for the target App: resources: [.copy(\"Substitutions\")]"
        #expect(made.status == 0 && made.output.contains(advice), "\(made)")
        let check = try await run(["check", "--strict"]).output
        #expect(check == "1 URL, 1 file, 53 bytes: 1 text\nno errors, no warnings\n")
        // The manifest's `$schema` refers to a file outside the target's folder, and `init` has written this file.
        let reference = "\"$schema\": \"../../../manifest.schema.json\""
        #expect(try text("Sources/App/Substitutions/manifest.json").contains(reference))
        #expect(try await run(["init", "--schema"]).output == text("manifest.schema.json"))
        for command in [["update", "-n"], ["update"], ["preview", "-o", "page.html"]] {
            let result = try await run(command)
            #expect(result.status == 0 && result.errors == "", "\(result)")
        }
        let again = try await run(["init"])
        #expect(again.status == 1 && again.errors.contains("already exists, and was not changed"), "\(again)")
        try folder.write("", to: "Sources/Other/Other.swift")
        #expect(try await run(["init"]).errors.contains("such as: substitute init Sources/App/Substitutions"))
    }

    @Test("init refers to the schema from any folder, and does not write through a symbolic link")
    func initialiseElsewhere() async throws {
        // Nothing is written outside the current folder.
        for name in ["project/Substitutions/x", "loose/x", "linked/x"] { try folder.write("", to: name) }
        #expect(try await run(["init", "."], in: "project/Substitutions").status == 0)
        #expect(try names("project") == ["Substitutions"])
        #expect(try text("project/Substitutions/manifest.json").contains("\": \"manifest.schema.json\""))
        #expect(try names("project/Substitutions").contains("manifest.schema.json"))
        // Outside a package, the folder lies here, with the schema beside it.
        #expect(try await run(["init"], in: "loose").output.contains("untick \"Build Folder Contents\""))
        #expect(try names("loose") == ["Substitutions", "manifest.schema.json", "x"])
        #expect(try text("loose/Substitutions/manifest.json").contains("\"$schema\": \"../manifest.schema.json\""))

        let declaration = ".target(name: \"App\", resources: [.copy(\"Substitutions\")])"
        try folder.write(declaration, to: "declared/Package.swift")
        let declared = folder.url.appendingPathComponent("declared")
        let variables = ["SUBSTITUTE_VERB": "substitute-edit"]
        let tool = await Tool.run(["init", "Sources/App/Substitutions"], in: declared, environment: variables)
        let next = "\n  swift package substitute-edit preview  shows the files that ship\n"
        #expect(
            tool.output.contains("Next:\n  swift package substitute check ") && tool.output.hasSuffix(next),
            "\(tool)"
        )

        let link = folder.url.appendingPathComponent("linked/hello.txt").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../outside.txt")
        #expect(try await run(["init", "linked"]).status == 1)
        #expect(try !names("").contains("outside.txt"))
        // A "~" is part of a name.
        #expect(try await run(["init", "~"]).status == 0)
        #expect(try names("~").contains("manifest.json"))
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: folder.url.appendingPathComponent(path), encoding: .utf8)
    }

    private func names(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.appendingPathComponent(path).path).sorted()
    }

    @Test("The shells can parse the scripts for completion")
    func completions() async throws {
        for shell in ["bash", "zsh", "fish"] {
            let script = try await run(["completions", shell]).output
            guard let program = Program.find(shell) else {
                #expect(!Program.isEverythingRequired, "\(shell) is missing")
                continue
            }
            try folder.write(script, to: "script")
            let parsed = try await Program.run(program, ["-n", "script"], in: folder.url)
            #expect(parsed.status == 0, "\(shell): \(parsed.errors)")
        }
    }

    @Test("bash completes commands, options and their values", .enabled(if: Program.find("bash") != nil, "needs bash"))
    func bash() async throws {
        let script = try await run(["completions", "bash"]).output
        func completed(_ words: [String]) async throws -> [String] {
            let line = words.map { "'\($0)'" }.joined(separator: " ")
            let call = """
                substitute() { '\(Tool.url.path)' "$@"; }
                \(script)
                COMP_WORDS=(\(line)); COMP_CWORD=\(words.count - 1); _substitute; printf '%s\\n' "${COMPREPLY[@]}"
                """
            let bash = try #require(Program.find("bash"))
            return try await Program.run(bash, ["-c", call]).output.split(separator: "\n").map(String.init)
        }
        for (words, found) in [
            (["c"], ["check", "completions"]), (["check", "--m"], ["--max-total"]), (["completions", "z"], ["zsh"]),
            (["check", "--format", ""], ["text", "json", "github"]), (["check", "Sub"], []),
        ] as [([String], [String])] {
            #expect(try await completed(["substitute"] + words) == found)
        }
    }
}
#endif

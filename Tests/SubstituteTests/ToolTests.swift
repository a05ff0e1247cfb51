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

    @Test(
        "Every command finds the only manifest, from any folder of the package",
        arguments: [
            ("", "."), ("Substitutions/", "."), ("Substitutions/", "Substitutions"), ("Resources/Substitutions/", "."),
            ("Sources/App/Substitutions/", "."), ("Sources/App/Substitutions/", "Sources/App/Views"),
            ("Sources/App/Resources/Substitutions/", "."), ("MyApp/Substitutions/", "MyApp/Views"),
        ]
    )
    func found(place: String, standing: String) async throws {
        try folder.write("", to: "Package.swift")
        try folder.write("", to: "\(standing)/x.swift")
        try writeSite(to: place)
        for arguments in [["check"], ["preview", "--format", "text"], ["explain", "https://h/a.css"], ["preview"]] {
            let result = try await run(arguments, in: standing)
            #expect(result.status == 0, "\(arguments): \(result.errors)")
            #expect(result.output.contains("a.css") || arguments == ["check"])
        }
    }

    @Test("The search for a manifest does not leave the package, or the current folder outside a package")
    func bounds() async throws {
        try writeSite(to: "Substitutions/")
        try folder.write("", to: "package/Package.swift")
        try folder.write("", to: "loose/deep/x")
        for place in ["package", "loose/deep"] {
            let result = try await run(["check"], in: place)
            #expect(result.status == 2)
            #expect(result.errors.contains("there is no manifest here"))
            #expect(result.errors.contains("substitute init"))
        }
    }

    @Test("Several manifests are listed, and a folder can be named instead of its manifest")
    func several() async throws {
        try writeSite(to: "Substitutions/")
        try writeSite(to: "Sources/App/Substitutions/")
        let result = try await run(["explain", "https://h/a.css"])
        #expect(result.status == 2)
        #expect(
            result.errors.hasPrefix(
                "substitute explain: there are several manifests here; name one:\n"
                    + "  Substitutions/manifest.json\n  Sources/App/Substitutions/manifest.json\n"
            )
        )
        for path in ["Substitutions", "Substitutions/", "Sources/App", "Sources/App/Substitutions/manifest.json"] {
            #expect(try await run(["check", path]).status == 0, "\(path)")
        }
    }

    // MARK: - The output of check

    @Test("Each format names the manifest and the position of each issue")
    func formats() async throws {
        try folder.write(
            "{ \"https://h/é\": \"b.css\",\n  \"https://h/a\": { \"file\": \"c.css\", \"when\": 401 } }",
            to: "Substitutions/manifest.json"
        )
        let github = try await run(["check", "--format", "github"])
        #expect(github.status == 1)
        #expect(
            github.output.hasPrefix(
                """
                ::error file=Substitutions/manifest.json,line=1,col=19,title=missing-file::"b.css" does not exist; add it, \
                or correct the name
                ::error file=Substitutions/manifest.json,line=2,col=28,title=missing-file::"c.css" does not exist
                """
            ),
            "\(github.output)"
        )
    }

    @Test("The files that ship are counted by kind, and a limit is enforced")
    func budget() async throws {
        try folder.write("{ \"https://h/\": \"./\" }", to: "manifest.json")
        try folder.write(
            Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: 0, count: 1992)),
            to: "a.png"
        )
        try folder.write(String(repeating: "a", count: 500), to: "b.txt")
        let summary = "2 URLs, 2 files, 2.5 kB: 1 image (2.0 kB), 1 text (500 bytes)"
        #expect(try await run(["check"]).output == "\(summary)\nno errors, no warnings\n")
        #expect(try await run(["check", "--max-total", "2.5kB"]).status == 0)
        #expect(try await run(["check", "--max-total", "1 MiB"]).status == 0)
        let over = try await run(["check", "--max-total=2499"])
        #expect(over.status == 1)
        #expect(
            over.output == """
                manifest.json:1:1: error: the files have 2.5 kB in total, more than the budget of 2.5 kB; make files \
                smaller, or raise the budget (the largest are "a.png" (2.0 kB), "b.txt" (500 bytes))
                \(summary)
                1 error

                """
        )
        #expect(try await run(["preview"]).output.contains(summary))
    }

    @Test("Files of expired entries do not count, and folder names cannot control a terminal")
    func budgetWithoutExpired() async throws {
        let manifest =
            "{ \"https://h/n\": \"new.txt\", \"https://h/o\": { \"file\": \"old.txt\", \"until\": \"2001-01-01\" } }"
        try folder.write(manifest, to: "manifest.json")
        try folder.write(String(repeating: "x", count: 50), to: "new.txt")
        try folder.write(String(repeating: "x", count: 5000), to: "old.txt")
        let result = try await run(["check", "--max-total", "10B"])
        #expect(result.output.contains("the files have 50 bytes in total") && !result.output.contains("\"old.txt\" ("))
        try writeSite(to: "a\u{1B}[31m/Substitutions/")
        #expect(try await !run(["check"]).errors.contains("\u{1B}"))
    }

    @Test("Unused files are reported by folder, and one by one with --all")
    func unused() async throws {
        try writeSite(to: "")
        for number in 0..<20 { try folder.write("x", to: "old/\(number % 4)/\(number).txt") }
        try folder.write("x", to: "b.txt")
        let short = try await run(["check"]).output
        #expect(short.contains("no entry uses \"old/\" with its 20 files; map the folder"))
        #expect(short.contains("no entry uses \"b.txt\"; map it"))
        #expect(short.contains("no errors, 2 warnings"))
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
        let rows = try await run(["preview", "--format", "json"]).output.split(separator: "\n").map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(rows.map { $0["url"] as? String } == ["https://h/a", "//h/b"])
        #expect(rows.map { $0["when"] as? [String] } == [["offline", "404"], []])
        #expect(rows.map { $0["until"] as? String } == ["2999-01-01", nil])
        try folder.write("[]", to: "manifest.json")
        let broken = try await run(["preview", "--format", "text"])
        #expect(broken.status == 1 && broken.output == "" && broken.errors.hasPrefix("manifest.json:1:1: error: "))
    }

    @Test("The name of a new folder may begin with a tilde")
    func tilde() async throws {
        let made = try await run(["init", "~"])
        #expect(made.status == 0, "\(made.errors)")
        #expect(FileManager.default.fileExists(atPath: folder.url.path + "/~/manifest.json"))
        let extended = try await run(["extension", "./~", "-o", "~x"])
        #expect(extended.status == 0, "\(extended.errors)")
        #expect(FileManager.default.fileExists(atPath: folder.url.path + "/~x/manifest.json"))
    }

    @Test("init creates a manifest without issues, and overwrites no file")
    func initialise() async throws {
        try folder.write("", to: "Package.swift")
        try folder.write("", to: "Sources/App/App.swift")
        let made = try await run(["init"])
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.contains("for the target App: resources: [.copy(\"Substitutions\")]"))
        #expect(
            try await run(["check", "--strict"]).output == "1 URL, 1 file, 53 bytes: 1 text\nno errors, no warnings\n"
        )
        #expect(try await run(["explain", "--require", "https://example.com/hello.txt"]).status == 0)
        // The manifest's `$schema` refers to a file outside the target's folder, and `init` has written this file.
        let place = folder.url.appendingPathComponent("Sources/App/Substitutions")
        let manifest = try String(contentsOf: place.appendingPathComponent("manifest.json"), encoding: .utf8)
        #expect(manifest.contains("\"$schema\": \"../../../manifest.schema.json\""))
        let schema = try Data(contentsOf: place.appendingPathComponent("../../../manifest.schema.json"))
        #expect(try await run(["init", "--schema"]).output == String(decoding: schema, as: UTF8.self))
        for command in [
            ["preview", "--format", "text"], ["update", "-n"], ["update"], ["preview", "-o", "page.html"],
        ] {
            let result = try await run(command)
            #expect(result.status == 0 && result.errors == "", "\(result)")
        }
        #expect(try await run(["update"]).output.hasSuffix("\n1 file: 1 was skipped\n"))
        let again = try await run(["init"])
        #expect(again.status == 1)
        #expect(again.errors.contains("already exists, and was not changed"))

        try folder.write("", to: "Sources/Other/Other.swift")
        #expect(try await run(["init"]).errors.contains("such as: substitute init Sources/App/Substitutions"))
        let named = try await run(["init", "elsewhere/Substitutions"], in: "Sources")
        #expect(named.status == 0, "\(named.errors)")
        let reference = "Sources/elsewhere/Substitutions/../../../manifest.schema.json"
        #expect(FileManager.default.fileExists(atPath: folder.url.appendingPathComponent(reference).path))
    }

    @Test("init refers to the schema from any folder, and does not write through a symbolic link")
    func initialiseElsewhere() async throws {
        try folder.write("", to: "project/Substitutions/x")
        #expect(try await run(["init", "."], in: "project/Substitutions").status == 0)
        let files = FileManager.default
        // Nothing is written outside the current folder.
        let project = folder.url.appendingPathComponent("project")
        #expect(try files.contentsOfDirectory(atPath: project.path) == ["Substitutions"])
        func manifest(_ folder: URL) throws -> String {
            try String(contentsOf: folder.appendingPathComponent("manifest.json"), encoding: .utf8)
        }
        #expect(try manifest(project.appendingPathComponent("Substitutions")).contains("\": \"manifest.schema.json\""))
        #expect(files.fileExists(atPath: project.appendingPathComponent("Substitutions/manifest.schema.json").path))
        #expect(try await run(["check"], in: "project/Substitutions").status == 0)
        try folder.write("", to: "top/Package.swift")
        #expect(try await run(["init", "."], in: "top").status == 0)
        let top = folder.url.appendingPathComponent("top")
        #expect(try manifest(top).contains("\": \"manifest.schema.json\""))
        #expect(files.fileExists(atPath: top.appendingPathComponent("manifest.schema.json").path))

        try folder.write("", to: "package/Package.swift")
        let named = try await run(["init", "./Sources/App/Substitutions"], in: "package")
        #expect(named.output.contains("for the target App: resources: [.copy(\"Substitutions\")]"), "\(named.output)")

        try folder.write(
            ".target(name: \"App\", resources: [.copy(\"Substitutions\")])",
            to: "declared/Package.swift"
        )
        let environment = ["SUBSTITUTE_VERB": "substitute-edit"]
        let tool = await Tool.run(
            ["init", "Sources/App/Substitutions"],
            in: folder.url.appendingPathComponent("declared"),
            environment: environment
        )
        let next = """
            Next:
              swift package substitute check         reports everything that is wrong with the manifest
              swift package substitute-edit preview  shows the files that ship

            """
        #expect(tool.output.hasSuffix(next), "\(tool.output)")

        try folder.write("", to: "linked/x")
        try files.createSymbolicLink(
            atPath: folder.url.appendingPathComponent("linked/hello.txt").path,
            withDestinationPath: "../outside.txt"
        )
        #expect(try await run(["init", "linked"]).status == 1)
        #expect(!files.fileExists(atPath: folder.url.appendingPathComponent("outside.txt").path))
    }

    @Test("Outside a package, init creates the folder here, with the schema beside it")
    func initialiseOutside() async throws {
        try folder.write("", to: "project/x")
        let made = try await run(["init"], in: "project")
        #expect(made.status == 0)
        #expect(made.output.contains("untick \"Build Folder Contents\""))
        let project = folder.url.appendingPathComponent("project")
        let names = try FileManager.default.contentsOfDirectory(atPath: project.path).sorted()
        #expect(names == ["Substitutions", "manifest.schema.json", "x"])
        let manifest = try String(
            contentsOf: project.appendingPathComponent("Substitutions/manifest.json"),
            encoding: .utf8
        )
        #expect(manifest.contains("\"$schema\": \"../manifest.schema.json\""))
    }

    @Test("Every command and option is completed, and the shells can parse the scripts")
    func completions() async throws {
        let names = try await run(["--complete", ""]).output.split(separator: "\n").map(String.init)
        #expect(names == Command.all.map(\.name) + ["help", "--help", "--version"])
        for command in Command.all {
            let options = try await run(["--complete", command.name, "--"]).output.split(separator: "\n")
            #expect(options.map(String.init) == command.allOptions.map { "--\($0.name)" })
        }
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
            let call =
                "substitute() { '\(Tool.url.path)' \"$@\"; }\n\(script)\nCOMP_WORDS=(\(line)); COMP_CWORD=\(words.count - 1); _substitute; printf '%s\\n' \"${COMPREPLY[@]}\""
            let bash = try #require(Program.find("bash"))
            return try await Program.run(bash, ["-c", call]).output.split(separator: "\n").map(String.init)
        }
        #expect(try await completed(["substitute", "c"]) == ["check", "completions"])
        #expect(try await completed(["substitute", "check", "--m"]) == ["--max-total"])
        #expect(try await completed(["substitute", "check", "--format", ""]) == ["text", "json", "github"])
        #expect(try await completed(["substitute", "completions", "z"]) == ["zsh"])
        #expect(try await completed(["substitute", "check", "Sub"]) == [])
    }
}
#endif

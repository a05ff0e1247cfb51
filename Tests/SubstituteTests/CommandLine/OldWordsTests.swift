// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("Old words", .serialized)
struct OldWordsTests {
    /// Each command line with an old word in the documents of earlier versions, and one with each old option.
    private static let lines = [
        ("capture SITE/", "add --in-browser SITE/"),
        ("capture --dry-run SITE/", "add --in-browser --dry-run SITE/"),
        (
            "capture --device phone --device desktop --scroll --har page.har SITE/",
            "add --in-browser --device phone --device desktop --scroll --har page.har SITE/"
        ),
        ("capture --host h SITE/", "add --in-browser --only-host h SITE/"),
        (
            "import page.har --only image,stylesheet,font,script --dry-run",
            "add page.har --only image,stylesheet,font,script --dry-run"
        ),
        ("import --dry-run app.har", "add -n app.har"),
        ("import -n --host h Substitutions page.har", "add -n --only-host h Substitutions page.har"),
        ("add -n -r --host h SITE/new.css", "add -n --with-references --also-host h SITE/new.css"),
        ("outdated", "update --dry-run"), ("outdated -a", "update -n --all"),
        ("outdated --json", "update -n --format json"),
        ("outdated Substitutions", "update --dry-run Substitutions"),
        ("list", "preview --format text"), ("list --json", "preview --format json"),
        ("list --used app.har Substitutions", "preview --format text --used app.har Substitutions"),
        (
            "list -u app.har --unused-limit 200kB",
            "preview --format text --used app.har --max-unused 200kB"
        ),
        ("schema", "init --schema"), ("schema -o manifest.schema.json", "init --schema -o manifest.schema.json"),
        ("webextension -o SiteWithAppFiles", "extension -o SiteWithAppFiles"),
        ("webextension -p h -o SiteWithAppFiles", "extension --pages h -o SiteWithAppFiles"),
        ("check -s --budget 5MB", "check --strict --max-total 5MB"), ("check -a -b5MB", "check --all --max-total 5MB"),
        ("check -f . -", "check --folder . -"),
        ("explain -r SITE/none.css", "explain --require SITE/none.css"),
        ("preview -u app.har -o /dev/null", "preview --used app.har -o /dev/null"),
        ("verify --require 90% --report verified SITE/", "verify --at-least 90% -o verified SITE/"),
        ("verify -r 90% SITE/", "verify --at-least 90% SITE/"),
        ("help capture", "help add"), ("help schema", "init --help"),
    ]

    @Test("A command line of an earlier version does the same as its new form", arguments: lines)
    func line(old: String, new: String) async throws {
        let server = try LoopbackServer { request in
            request.path.hasSuffix(".css")
                ? LoopbackServer.Response(headers: ["Content-Type": "text/css"], body: Data("a { }".utf8))
                : .text("no", status: 404)
        }
        defer { server.stop() }
        let site = server.url.absoluteString
        let folder = try TemporaryFolder()
        try folder.write("{ \"\(site)/a.css\": \"a.css\" }", to: "Substitutions/manifest.json")
        try folder.write("a { }", to: "Substitutions/a.css")
        for name in ["page.har", "app.har"] {
            try folder.write(HAR.text(HAREntry(url: "\(site)/a.css"), HAREntry(url: "https://h/b.css")), to: name)
        }
        func run(_ line: String) async -> Program.Result {
            let words = line.replacingOccurrences(of: "SITE", with: site).components(separatedBy: " ")
            // No browser is in this path.
            return await Tool.run(words, in: folder.url, environment: ["PATH": "/nowhere", "HOME": "/nowhere"])
        }
        let (first, second) = (await run(old), await run(new))
        #expect(first.status == second.status && first.status < 2, "\(first)")
        #expect(first.output == second.output && first.errors == second.errors)
        let needsBrowser = old.hasPrefix("capture") || old.hasPrefix("verify")
        #expect(first.errors.contains("there is no browser that can be used") == needsBrowser, "\(first)")
    }

    @Test("The help and the completions name no old word, and every old word is in a test")
    func hidden() async throws {
        let options = OldWords.options.values.flatMap(\.keys).filter { $0.hasPrefix("--") && $0 != "--require" }
        let old = OldWords.commands.keys.map { "substitute \($0)" } + options.map { $0 + " " }
        let helps = Command.overview + Command.all.map(\.help).joined()
        for word in old { #expect(!helps.contains(word), "\(word)") }
        for (command, options) in OldWords.options {
            let known = Command.all.first { $0.name == (OldWords.commands[command]?[0] ?? command) }?.options
            for name in options.values { #expect(known?.contains { $0.name == name } == true, "\(command) \(name)") }
        }
        for name in OldWords.commands.keys {
            #expect(!Command.all.contains { $0.name == name })
            #expect(Self.lines.contains { $0.0.hasPrefix(name) })
        }
    }
}
#endif

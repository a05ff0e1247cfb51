// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("The web extension that the tool writes", .serialized)
struct WebExtensionTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func write(_ manifest: String, files: [String] = ["a.txt"]) throws {
        try folder.write(manifest, to: "Substitutions/manifest.json")
        for file in files { try folder.write(file, to: "Substitutions/\(file)") }
    }

    private func make(_ more: [String] = [], output: String = "Out") async throws -> Program.Result {
        await Tool.run(["extension", "Substitutions", "-o", output] + more, in: folder.url)
    }

    /// Writes a manifest and its files, and makes the extension, which must succeed.
    @discardableResult
    private func make(of manifest: String, files: [String] = ["a.txt"], _ more: [String] = []) async throws
        -> Program.Result
    {
        try write(manifest, files: files)
        let result = try await make(more)
        #expect(result.status == 0, "\(result.errors)")
        return result
    }

    private func written(_ path: String) throws -> String {
        try String(contentsOf: folder.url.appendingPathComponent("Out/\(path)"), encoding: .utf8)
    }

    private func object(_ path: String) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(contentsOf: folder.url.appendingPathComponent("Out/\(path)")))
    }

    /// Returns the rules, each as `filter → path of the copy`.
    private func rules() throws -> [String] {
        try #require(object("rules.json") as? [[String: Any]]).map { rule in
            let condition = rule["condition"] as? [String: Any] ?? [:]
            let action = rule["action"] as? [String: Any] ?? [:]
            let path = (action["redirect"] as? [String: String])?["extensionPath"] ?? ""
            let file = folder.url.appendingPathComponent("Out" + (path.removingPercentEncoding ?? ""))
            #expect(FileManager.default.fileExists(atPath: file.path), "\(path)")
            return "\(condition["urlFilter"] ?? condition["regexFilter"] ?? "") → \(path)"
        }.sorted()
    }

    private func names(in path: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.url.appendingPathComponent(path).path).sorted()
    }

    @Test("The extension requests only the hosts of the manifest and of --pages, and the tool says how to load it")
    func permissions() async throws {
        // The host of a page counts, too, although no rule answers with the page.
        let result = try await make(
            of: """
                { "https://b.example:8443/a": { "file": "a.txt", "until": "2099-01-01" }, "//a.example/a": "a.txt",
                  "https://site/": "a.html" }
                """,
            files: ["a.txt", "a.html"],
            ["--pages", "WWW.example.com", "--pages=*.example.org"]
        )
        #expect(result.errors == "")
        let manifest = try #require(object("manifest.json") as? [String: Any])
        let hosts = [
            "*://*.example.org/*", "*://www.example.com/*", "http://a.example/*", "https://a.example/*",
            "https://b.example/*", "https://site/*",
        ]
        #expect(manifest["host_permissions"] as? [String] == hosts)
        #expect(manifest["permissions"] as? [String] == ["declarativeNetRequestWithHostAccess"])
        let resources = try #require((manifest["web_accessible_resources"] as? [[String: [String]]])?.first)
        #expect(resources == ["resources": ["files/*"], "matches": hosts])
        for words in [
            "chrome://extensions", "about:debugging", "Add Temporary Extension",
            "until you run this again:\n  line 1 \"https://b.example:8443/a\": 2099-01-01\n",
        ] { #expect(result.output.contains(words), "\(result)") }
    }

    @Test("Copies lie at the paths of their URLs, so that relative addresses work, even with odd names and types")
    func layout() async throws {
        // A file of unknown type, or of a font's other type, keeps its extension, so that stylesheets find it.
        let unknown = #"{ "file": "a.txt", "type": "application/octet-stream" }"#
        try await make(
            of: """
                { "https://h/css/a.css": "a.css", "http://h/css/a.css": "b.css", "https://h/css/A.css": "b.css", "//h:81/": "a.css",
                  "https://h/api": { "file": "a.json" }, "https://h/api/x": { "file": "b", "type": "image/png" },
                  "https://h/p?1": "a.css", "https://h/p?2": "b.css", "https://h/con.txt": "a.txt", "https://h/x/%2Fy.txt": "a.txt",
                  "https://h/\(String(repeating: "n", count: 300)).txt": "a.txt", "https://h/a.otf": \(unknown), "https://h/b": \(unknown),
                  "https://h/c.woff": { "file": "a.txt", "type": "application/font-woff" } }
                """,
            files: ["a.css", "b.css", "a.json", "b", "a.txt"]
        )
        // A font also has a rule for URLs with a fragment.
        #expect(
            try rules().map { $0.replacing(String(repeating: "n", count: 300), with: "nnn") } == [
                "|http://h/css/a.css| → /files/h/css/a-2.css", "|http://h:81/| → /files/h_81/index.css",
                "|https://h/a.otf| → /files/h/a.otf", "|https://h/api/x| → /files/h/api/x.png",
                "|https://h/api| → /files/h/api.json", "|https://h/b| → /files/h/b.bin",
                "|https://h/c.woff# → /files/h/c.woff", "|https://h/c.woff| → /files/h/c.woff",
                "|https://h/con.txt| → /files/h/_con.txt", "|https://h/css/A.css| → /files/h/css/A-3.css",
                "|https://h/css/a.css| → /files/h/css/a.css",
                "|https://h/nnn.txt| → /files/h/\(String(repeating: "n", count: 24))-d40e5b8ce2a2aef3.txt",
                "|https://h/p?1| → /files/h/p.css", "|https://h/p?2| → /files/h/p-2.css",
                "|https://h/x/%2Fy.txt| → /files/h/x/_y.txt", "|https://h:81/| → /files/h_81/index.css",
            ]
        )
    }

    @Test("Files of one folder stay in one folder, so that references between them work")
    func oddFolders() async throws {
        let folders = ["~anna", ".well", "a:b", "con", "A*", "x//y", "%2F", String(repeating: "n", count: 300)]
        let entries = folders.enumerated().flatMap { number, folder in
            [("css/a.css?1", "a.css"), ("css/a.css?2", "b.css"), ("i/", "i/")].map { path, file in
                "\"https://h\(number)/\(folder)/\(path)\": \"\(file)\""
            }
        }
        try write("{ \(entries.joined(separator: ",\n")) }", files: ["i/p.png"])
        for name in ["a.css", "b.css"] {
            try folder.write("\(name) { b: url(../i/p.png) }", to: "Substitutions/\(name)")
        }
        let result = try await make()
        #expect(result.status == 0 && !result.output.contains("nowhere"), "\(result)")
        let places = try rules().compactMap { $0.components(separatedBy: " → ").last }
        for number in folders.indices {
            let own = places.filter { $0.hasPrefix("/files/h\(number)/") }
            #expect(Set(own.map { $0.components(separatedBy: "/css/").first }).count == 2, "\(own)")
        }
    }

    @Test("A page has no rule, because a service worker would keep its copy, and is reported once")
    func pages() async throws {
        let result = try await make(
            of: #"{ "https://h/": "f/", "https://h/x": { "file": "a.txt", "type": "application/xhtml+xml" } }"#,
            files: ["a.txt", "f/index.html", "f/a.css"]
        )
        #expect(try rules() == ["|https://h/a.css| → /files/h/a.css"])
        let reason = "a page, because pages always come from the network"
        let list = "\n  line 1 \"https://h/\": \(reason) (2 URLs)\n  line 1 \"https://h/x\": \(reason)\n\n"
        #expect(result.output.contains("Left to the network:\(list)To see the site"), "\(result.output)")
        #expect(result.output.hasSuffix("keep it from starting: browsers accept no redirect for them.\n"))
        #expect(try written("toolbar.html").contains(reason))
    }

    @Test("The article shows the tool's output for the Demo's manifest")
    func article() async throws {
        let manifest = Repository.folder.appendingPathComponent("Resources/Substitutions").path
        let result = await Tool.run(["extension", manifest, "-o", "SiteWithAppFiles"], in: folder.url)
        let catalog = "Sources/LocalSubstitutionCache/LocalSubstitutionCache.docc"
        let article = Repository.folder.appendingPathComponent("\(catalog)/FromAPage.md")
        // The article leaves out how to load the extension.
        let end = try #require(result.output.range(of: "\nTo see the site"))
        let shown = result.output[..<end.lowerBound]
        #expect(try String(contentsOf: article, encoding: .utf8).contains("```text\n\(shown)```"))
    }

    // MARK: - The root

    /// Returns the files at the extension's root, without the files that every extension has.
    private func rootFiles() throws -> [String] {
        let own = WebExtension.fileNames + ["written-by-substitute.txt"]
        var isFolder: ObjCBool = false
        return try names(in: "Out").filter { name in
            let path = folder.url.appendingPathComponent("Out/\(name)").path
            return !own.contains(name) && !name.hasPrefix("files/")
                && FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
        }
    }

    private func accessible() throws -> [String]? {
        let manifest = try #require(object("manifest.json") as? [String: Any])
        return (manifest["web_accessible_resources"] as? [[String: [String]]])?.first?["resources"]
    }

    @Test("Only files that are referenced from the root, and their own references, have a copy there")
    func roots() async throws {
        try write(
            #"{ "https://h/": "h/", "http://h/img/b%20c.png": "h/img/b c.png" }"#,
            files: ["img/a.png", "img/b c.png", "img/d.png", "img/unnamed.png", "logo.png", "js/c.js", "index.html"]
                .map { "h/\($0)" }
        )
        let texts = [
            "css/a.css": "@import '/css/b.css'; a { b: url(../img/d.png) }",
            "css/b.css": "a { b: url(../img/a.png), url(/img/b%20c.png?v=1#x), url(/logo.png) }",
            "js/a.js": "import './c.js'; import '/js/b.mjs'", "js/b.mjs": "import './c.js'",
        ]
        for (path, text) in texts { try folder.write(text, to: "Substitutions/h/\(path)") }
        let result = try await make()
        #expect(try rootFiles() == ["css/b.css", "img/a.png", "img/b c.png", "js/b.mjs", "js/c.js", "logo.png"])
        #expect(try accessible() == ["files/*", "css/*", "img/*", "js/*", "logo.png"])
        #expect(try written("css/b.css") == texts["css/b.css"])
        let note = "6 files, 127 bytes, are in it twice, because stylesheets and scripts refer to them from the root"
        #expect(result.output.contains("\n\(note)\n"), "\(result.output)")
        // The same manifest always gives the same bytes, also in another process.
        let before = try WebExtension.fileNames.filter { $0 != "icon.png" }.map(written)
        let words = ["extension", "Substitutions", "-o", "Out"]
        #expect(try await Tool.start(words, in: folder.url).status == 0)
        #expect(try WebExtension.fileNames.filter { $0 != "icon.png" }.map(written) == before)
        // The next run replaces the copies at the extension's root.
        try folder.write("a { b: url(../img/d.png) }", to: "Substitutions/h/css/a.css")
        try folder.write("", to: "Substitutions/h/js/a.js")
        #expect(try await make().status == 0)
        #expect(try rootFiles() == ["img/b c.png", "logo.png"])
    }

    @Test("A file is not copied to the root if the hosts that reference it do not all have the same one")
    func disagreement() async throws {
        // Each case has its own number in place of N, and a stylesheet refers to the picture of this number.
        let cases = [
            (#""https://i/N.png": "i.png""#, true), (#""https://i/yN.png": "i.png""#, false),
            (#""http://h/N.png": "i.png""#, true), (#""https://i/N.png": "h.png""#, false),
            (#""https://i/N.css": "N.css""#, true), (#""https://i/N.css": "N.css", "https://i/N.png": "h.png""#, false),
            (#""https://h/N.png?1": "i.png""#, true),
            (#""https://i/N.png": { "file": "h.png", "type": "image/gif" }"#, true),
        ]
        let entries = cases.enumerated().map { number, each in
            #""https://h/N.css": "N.css", "https://h/N.png": "h.png", \#(each.0)"#.replacing("N", with: "\(number)")
        }
        for number in cases.indices {
            try folder.write("a { b: url(/\(number).png) }", to: "Substitutions/\(number).css")
        }
        try await make(of: "{ \(entries.joined(separator: ",\n")) }", files: ["h.png", "i.png"])
        #expect(try rootFiles() == cases.indices.filter { !cases[$0].1 }.map { "\($0).png" })
    }

    @Test("No copy at the root has a name that collides, or that the extension, a browser or a disk does not allow")
    func reserved() async throws {
        let paths = [
            "manifest.json", "Icon.PNG", "toolbar.js", "written-by-substitute.txt", "_next/a.png", "_locales/a.png",
            "_metadata/a.png", "files/a.png", "Files", "con.png", "thumbs.db", ".well-known/a.png", "b/.a.png",
            "%C3%BC/a.png", "a%2Fb.png", "a%20b/c.png", "no-ending", "", "allowed.png",
            "A.png", "a.png", "x.png", "x.png/y.png",
        ]
        try folder.write("a { b: \(paths.map { "url(/\($0))" }.joined(separator: ", ")) }", to: "Substitutions/a.css")
        let entries = paths.map { "\"https://h/\($0)\": { \"file\": \"a.png\", \"type\": \"image/png\" }" }
        let manifest = "{ \"https://h/a.css\": \"a.css\", \(entries.joined(separator: ",\n")) }"
        try await make(of: manifest, files: ["a.png"])
        // Only one of two paths that collide has a copy.
        #expect(try rootFiles() == ["A.png", "allowed.png", "x.png"])
        #expect(try accessible() == ["files/*", "A.png", "allowed.png", "x.png"])
    }

    @Test("The next run removes what a killed run left, and nothing else")
    func killed() async throws {
        try await make(of: #"{ "https://h/a": "a.txt" }"#)
        let whole = try names(in: "Out")
        let staging = folder.url.appendingPathComponent(".Out.substitute")
        for left in [[], ["1/files/a.txt", "1/list"], ["2/files/a.txt", "1/list", "2/list"]] {
            try FileManager.default.createDirectory(at: staging, withIntermediateDirectories: false)
            for path in left { try folder.write("left", to: ".Out.substitute/\(path)") }
            // Where two folders cannot be exchanged, a killed run may have moved the old one aside.
            if left.count > 2 { try FileManager.default.removeItem(at: folder.url.appendingPathComponent("Out")) }
            #expect(try await make().status == 0)
            #expect(try names(in: "Out") == whole && !FileManager.default.fileExists(atPath: staging.path))
        }
        // This file belongs to the user.
        try folder.write("mine", to: ".Out.substitute/notes.txt")
        #expect(try await make().status == 0)
        #expect(try names(in: ".Out.substitute") == ["notes.txt"])
    }

    @Test("Each of several simultaneous runs writes all files or none")
    func severalRuns() async throws {
        let files = (0..<100).map { "f/\($0).txt" }
        try write(#"{ "https://h/f/": "f/" }"#, files: files)
        let statuses = try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<6 { group.addTask { try await make().status } }
            return try await group.reduce(into: [Int32]()) { $0.append($1) }
        }
        #expect(try statuses.contains(0) && rules().count == 100)
        #expect(try names(in: ".").allSatisfy { !$0.hasPrefix(".") })
    }

    @Test("A file has a copy for each of its types, but none for hosts that browsers refuse")
    func types() async throws {
        let types = ["text/css", "text/javascript"].map {
            "\"https://x.test/a?\($0)\": { \"file\": \"a.txt\", \"type\": \"\($0)\" }"
        }
        let hosts = ["1.2.3.400", "exa_mple.test", "-x.test", "[::1]", "[0::1]", "127.0.0.1"]
        let entries = types + hosts.map { "\"https://\($0)/a\": \"a.txt\"" }
        let result = try await make(of: "{ \(entries.joined(separator: ",\n")) }")
        #expect(
            try rules() == [
                "|https://127.0.0.1/a| → /files/127.0.0.1/a.txt", "|https://[::1]/a| → /files/%5B__1%5D/a.txt",
                "|https://exa_mple.test/a| → /files/exa_mple.test/a.txt",
                "|https://x.test/a?text/css| → /files/x.test/a.css",
                "|https://x.test/a?text/javascript| → /files/x.test/a.js",
            ]
        )
        for host in ["1.2.3.400", "-x.test", "[0::1]"] {
            #expect(result.output.contains("browsers do not accept the host \"\(host)\""))
        }
    }

    @Test("A folder that the tool did not write is left alone, and one that it wrote is replaced")
    func ownership() async throws {
        try write(#"{ "https://h/a": "a.txt" }"#)
        for path in ["Mine/file.txt", "File", "Empty/.DS_Store"] { try folder.write("mine", to: path) }
        let current = "is the folder you are in, or one around it"
        for (output, sentence) in [
            ("Mine", "\"Mine\" holds files that this tool did not write"), ("File", "\"File\" is a file"),
            ("Substitutions/Out", "lies in the manifest's folder"), ("Substitutions", "lies in the manifest's folder"),
            ("none/Out", "does not exist"), ("", "name the folder to write"), (".", current), ("..", current),
            ("../\(folder.url.lastPathComponent)", current),
        ] {
            let result = try await make(output: output)
            #expect(result.status == 2 && result.errors.contains(sentence), "\(output): \(result.errors)")
        }
        #expect(try names(in: "Mine") == ["file.txt"] && names(in: "Substitutions") == ["a.txt", "manifest.json"])
        for output in ["Empty", "Out"] { #expect(try await make(output: output).status == 0) }
        // Files that browsers and file managers add are no reason to refuse the folder.
        for name in ["_metadata/generated_indexed_rulesets/_ruleset1", ".DS_Store"] {
            try folder.write("x", to: "Out/\(name)")
        }
        try await make(of: #"{ "https://h/b": "a.txt" }"#)
        #expect(try rules() == ["|https://h/b| → /files/h/b.txt"] && !names(in: "Out").contains("files/h/a.txt"))
        for name in ["files/notes.txt", ".env", "_metadata/mine.txt"] {
            try folder.write("mine", to: "Out/\(name)")
            let result = try await make()
            #expect(result.status == 2 && result.errors.contains("did not write \"Out/\(name)\""), "\(result)")
            try FileManager.default.removeItem(at: folder.url.appendingPathComponent("Out/\(name)"))
        }
        let link = folder.url.appendingPathComponent("Dangling").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "nowhere")
        #expect(try await make(output: "Dangling").status == 2)
        #expect(try await make(output: "Empty/.").status == 0)
    }

    @Test("Entries that have no rule are listed, and a manifest with only such entries is refused")
    func leftToNetwork() async throws {
        let entries = [
            #""https://h/a": { "file": "a.txt", "when": 404 }"#,
            #""https://h/b": { "file": "a.txt", "headers": { "X-A": "b" } }"#,
            #""https://h/c": { "file": "a.txt", "type": "text/plain; charset=iso-8859-1" }"#,
        ]
        let manifest = "{\n\(entries.joined(separator: ",\n"))\n}"
        try write(manifest)
        let none = try await make()
        let errors = """
            substitute extension: nothing in "manifest.json" can be shown in a browser:
              line 2 "https://h/a": the network is asked first, as its "when" says
              line 3 "https://h/b": files of an extension cannot have "headers", such as "X-A"
              line 4 "https://h/c": files of an extension cannot have a "type" with parameters, such as "text/plain; charset=iso-8859-1"

            """
        #expect(none.status == 1 && none.errors == errors)
        try write(manifest.replacing("{\n\"https", with: "{\n\"https://h/d\": \"a.txt\",\n\"https"))
        let result = try await make()
        #expect(result.status == 0 && result.output.contains("Left to the network:\n  line 3 \"https://h/a\": "))
        #expect(try rules() == ["|https://h/d| → /files/h/d.txt"])
        for (manifest, words) in [
            ("{ \"https://h/a\": \"gone.txt\" }", "\"gone.txt\" does not exist"),
            ("{}", "can be shown in a browser: it maps nothing"),
        ] {
            try write(manifest)
            #expect(try await make().errors.contains(words))
        }
    }

    @Test(
        "For more than 30,000 rules, the tool fails and names the costliest entries",
        .enabled(if: Program.isLongRun, "long"),
        .timeLimit(.minutes(10))
    )
    func mostRules() async throws {
        let entries = (0..<15_000).map { "\"//h/a.txt?\($0)\": \"a.txt\"" } + ["\"//j/\": \"f/\""]
        try write("{ \(entries.joined(separator: ",\n")) }", files: ["a.txt", "f/a", "f/b", "f/c", "f/d"])
        let result = try await make()
        for words in ["needs 30008 rules, and browsers accept 30000", "\"//j/\": 8\n"] {
            #expect(result.status == 1 && result.errors.contains(words), "\(result.errors)")
        }
    }

    @Test("For too many regular expressions, the tool fails and names the costliest entries")
    func mostExpressions() async throws {
        let names = (0..<100).map { "\"p\($0)\"" }.joined(separator: ",")
        let entries = "xyzabcdefghi".map { "\"https://h/\($0)\": { \"file\": \"a.txt\", \"ignoreQuery\": [\(names)] }" }
        try write("{ \(entries.joined(separator: ",\n")) }")
        let many = try await make()
        #expect(many.errors.contains("needs 1200 rules with regular expressions, and browsers accept 1000"))
        #expect(many.errors.contains("\"https://h/y\": 100"))
    }

    @Test("An invalid host for --pages is wrong use")
    func usage() async throws {
        try write(#"{ "https://h/a": "a.txt" }"#)
        for host in ["", "a b", "http://h/", "*", "h:80", "*.*.h", "256.1.1.1", "a,b", "ex..com", "*.1.2.3.4"] {
            let result = try await make(["--pages", host])
            let sentence = "is not a host; write it as example.com or *.example.com"
            #expect(result.status == 2 && result.errors.contains(sentence), "\(host)")
        }
    }
}
#endif

import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache

@Suite("Manifests that name too much")
struct RowLimitTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["a.txt", "d/1.txt", "d/2.txt", "d/index.html", "d/sub/3.txt"] { try folder.write(name, to: name) }
    }

    private func resolver(_ manifest: String, _ budget: LoadBudget = LoadBudget()) -> ManifestResolver {
        let manifest = SubstitutionManifest(Data(manifest.utf8), name: "manifest.json")
        var resolver = ManifestResolver(manifest, folder: folder.url, budget: budget)
        resolver.resolve()
        return resolver
    }

    @Test(
        "Each URL counts: both schemes of //, each file of a folder, and the folder of an index.html",
        arguments: [
            (#"{ "https://h/a": "a.txt" }"#, 1), (#"{ "//h/a": "a.txt" }"#, 2), (#"{ "https://h/": "d/" }"#, 5),
            (#"{ "//h/": "d/" }"#, 10), (#"{ "https://h/": "d/", "//h/a": "a.txt", "https://h/s/": "d/sub/" }"#, 8),
            (#"{ "https://h/a": { "file": "a.txt", "until": "2020-01-01" } }"#, 1),
        ]
    )
    func counted(manifest: String, rows: Int) {
        #expect(resolver(manifest, LoadBudget([.urls: rows])).findings == [])
        #expect(resolver(manifest, LoadBudget([.urls: rows - 1])).findings.map(\.code) == [.tooManyURLs])
    }

    @Test("The first entry beyond the limit is reported once, beside all other issues")
    func sentence() {
        let manifest = """
            { "https://h/1": "a.txt",
              "https://h/2/": "d/",
              "https://h/3": "a.txt",
              "https://h/4": "gone.txt",
              "https://h/5/": "d/" }
            """
        let findings = resolver(manifest, LoadBudget([.urls: 4])).findings
        #expect(findings.map(\.code) == [.tooManyURLs, .missingFile])
        let issue = SourceText(name: "m.json", bytes: Data(manifest.utf8)).issues(findings).first
        #expect(
            issue?.description == """
                m.json:2:19: error: with "d/" the manifest maps more than 200000 URLs, all of which an app would hold in \
                memory
                """
        )
    }

    @Test("The paths in a folder count with their lengths, however they are reached")
    func paths() throws {
        try folder.write("", to: "deep/\(String(repeating: "n", count: 200))/a.txt")
        #expect(resolver(#"{ "https://h/": "deep/" }"#, LoadBudget([.bytes: 2000])).findings == [])
        #expect(resolver(#"{ "https://h/": "deep/" }"#, LoadBudget([.bytes: 700])).findings.map(\.code) == [.tooLong])
    }

    @Test("Many keys for a folder of many files are refused, and create no more rows than the limit allows")
    func multiplied() throws {
        for number in 0..<60 { try folder.write("", to: "many/\(number)") }
        let keys = (0..<60).map { "\"https://h/\($0)/\": \"many/\"" }
        let resolver = resolver("{" + keys.joined(separator: ",") + "}", LoadBudget([.urls: 2000]))
        #expect(resolver.findings.map(\.code) == [.tooManyURLs])
        #expect(resolver.substitutions.count <= 2000)
    }

    @Test(
        "Each URL counts with its length and its header fields, and each path in a folder with its length",
        arguments: [
            (#"{ "https://h/a": "a.txt" }"#, 33), (#"{ "//h/a": "a.txt" }"#, 30), (#"{ "https://h/": "d/" }"#, 301),
            (#"{ "//h/": "d/" }"#, 358),
            (#"{ "https://h/": { "file": "d/", "headers": { "A": "b", "C": "" } } }"#, 956),
            (#"{ "https://h/a": "a.txt", "//h/": "d/", "https://h/b": "a.txt" }"#, 424),
        ]
    )
    func length(manifest: String, bytes: Int) {
        #expect(resolver(manifest, LoadBudget([.bytes: bytes])).findings == [])
        #expect(resolver(manifest, LoadBudget([.bytes: bytes - 1])).findings.map(\.code) == [.tooLong])
    }

    @Test("What a short manifest multiplies by the files of a folder is refused by an app with a place and a cause")
    func refused() throws {
        // A long run has an app's limit; else all lengths, and the limit, are a fiftieth.
        let unit = Program.isLongRun ? 50 : 1
        let budget = Program.isLongRun ? LoadBudget() : LoadBudget([.bytes: 3_000_000])
        for number in 0..<200 { try folder.write("", to: "many/\(number)") }
        let headers = (0..<240 * unit).map { "\"X-\($0)\": \"\"" }.joined(separator: ",")
        let long = String(repeating: "v", count: 16_000 * unit)
        let values = (0..<100).map { "\"X-\($0)\": \"\(long.prefix(160 * unit))\"" }.joined(separator: ",")
        let keys = (0..<20).map { "\"//h/\(long.prefix(260 * unit))\($0)/\": \"many/\"" }
        let manifests = [
            "{ \"https://h/\": { \"file\": \"many/\", \"headers\": { \(headers) } } }",
            "{ \"https://h/\": { \"headers\": { \(values) }, \"file\": \"many/\" } }",
            "{ \"https://h/\(long)/\": { \"file\": \"many/\" } }", "{" + keys.joined(separator: ",\n") + "}",
        ]
        let sentence = """
            with "many/" the manifest's URLs, each with its own header fields, take more than 150 MB, all of which an \
            app would hold in memory
            """
        for manifest in manifests {
            let text = SourceText(name: "m.json", bytes: Data(manifest.utf8))
            let issues = text.issues(resolver(manifest, budget).findings)
            #expect(issues.map(\.message) == [sentence])
            let place = try #require(issues.first)
            let line = manifest.split(separator: "\n")[place.line - 1]
            #expect(line.utf8.dropFirst(place.column - 1).starts(with: "\"many/\"".utf8))
        }
    }

    @Test("A media type and a header value have a length for which Foundation takes no quadratic time")
    func values() throws {
        try folder.write("", to: "a.txt")
        func codes(_ field: String) -> [ManifestIssue.Code] {
            folder.issues("{ \"https://h/a\": { \"file\": \"a.txt\", \(field) } }").map(\.code)
        }
        for (length, isLegal) in [(0, true), (1, false)] {
            let type = String(repeating: "t", count: 1000 - "text/".count + length)
            #expect(codes("\"type\": \"text/\(type)\"") == (isLegal ? [] : [.badType]))
            let value = String(repeating: "v", count: 8000 + length)
            #expect(codes("\"headers\": { \"Content-Disposition\": \"\(value)\" }") == (isLegal ? [] : [.badHeader]))
        }
    }

    @Test("A condition that is repeated counts once, so that each response has few")
    func conditions() {
        let values = (0..<10_000).map { ["\(400 + $0 % 200)", "\"4xx\"", "\"offline\""][$0 % 3] }
        let manifest = "{ \"https://h/\": { \"file\": \"d/\", \"when\": [\(values.joined(separator: ","))] } }"
        #expect(resolver(manifest).substitutions.map(\.conditions.count) == Array(repeating: 202, count: 5))
    }

    @Test("Each folder's problems are reported once, however many keys name the folder")
    func problems() throws {
        for name in ["d/broken", "d/sub/broken"] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.url.appendingPathComponent(name).path,
                withDestinationPath: "nowhere"
            )
        }
        let keys = (0..<1000).map { "\"https://h/\($0)/\": \"d/\"" } + ["\"https://h/s/\": \"d/sub/\""]
        let findings = resolver("{" + keys.joined(separator: ",") + "}").findings
        #expect(findings.map(\.code) == [.missingFile, .missingFile, .missingFile])
        #expect(Set(findings.map(\.offset)).count == 2)
    }

    // MARK: - Folder walks

    @Test("A folder is walked once, even if it changes meanwhile or has problems")
    func walkedOnce() throws {
        try folder.write("", to: "e/x")
        let loop = folder.url.appendingPathComponent("e/loop")
        try FileManager.default.createSymbolicLink(atPath: loop.path, withDestinationPath: ".")
        let files = try ManifestFolder(folder.url)
        let names = try files.files(below: "d/").files.map(\.name)
        #expect(names == ["1.txt", "2.txt", "index.html", "sub/3.txt"])
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("d"))
        #expect(try files.files(below: "d/").files.map(\.name) == names)
        for _ in 0..<2 {
            #expect(try files.files(below: "e/").problems.map(\.problem) == [.isLinkToFolder])
            try? FileManager.default.removeItem(at: loop)
        }
    }

    @Test("One limit covers the names of all walks, and links do not multiply them")
    func names() throws {
        for number in 0..<10 {
            let link = folder.url.appendingPathComponent("l\(number)")
            try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "d")
        }
        // There are five names below "d": two text files, a page, a folder, and a text file in that folder.
        func reached(_ maximumNames: Int) throws -> Int {
            let files = try ManifestFolder(folder.url, budget: LoadBudget([.names: maximumNames]))
            return (0..<10).prefix { (try? files.files(below: "l\($0)/").files.count) == 4 }.count
        }
        #expect(try [4, 5, 14, 15, 49, 50].map(reached) == [0, 1, 2, 3, 9, 10])
        let issue = Finding(.exceeds(.names), with: "l3/", at: 0)
        #expect(issue.code == .endlessFolder)
        #expect(issue.message.hasSuffix("hold more than 1000000 files"))
    }

    @Test("The manifest is not among a folder's files, and is not suggested")
    func manifestItself() throws {
        let manifest = folder.url.appendingPathComponent("manifest.json")
        try folder.write("{}", to: "manifest.json")
        let files = try ManifestFolder(folder.url, except: FilePath(resolving: manifest.path))
        #expect(try !files.files(below: "./").files.map(\.name).contains("manifest.json"))
        #expect(throws: FileProblem.missing) { _ = try files.file("sub/manifest.json") }
    }
}

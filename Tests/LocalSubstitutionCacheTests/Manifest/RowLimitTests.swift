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

    private func link(_ name: String, to target: String) throws {
        let path = folder.url.appendingPathComponent(name).path
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    private func resolver(_ manifest: String, _ budget: LoadBudget = LoadBudget()) -> ManifestResolver {
        let manifest = SubstitutionManifest(Data(manifest.utf8), name: "manifest.json")
        var resolver = ManifestResolver(manifest, folder: folder.url, budget: budget)
        resolver.resolve()
        return resolver
    }

    @Test(
        "Each URL counts, with its length and its header fields: both of //, each file of a folder, and its index.html",
        arguments: [
            (#"{ "https://h/a": "a.txt" }"#, 1, 33), (#"{ "//h/a": "a.txt" }"#, 2, 30),
            (#"{ "https://h/": "d/" }"#, 5, 301), (#"{ "//h/": "d/" }"#, 10, 358),
            (#"{ "https://h/": { "file": "d/", "headers": { "A": "b", "C": "" } } }"#, 5, 956),
            (#"{ "https://h/a": "a.txt", "//h/": "d/", "https://h/b": "a.txt" }"#, 12, 424),
            (#"{ "https://h/": "d/", "//h/a": "a.txt", "https://h/s/": "d/sub/" }"#, 8, nil),
            (#"{ "https://h/a": { "file": "a.txt", "until": "2020-01-01" } }"#, 1, nil),
        ] as [(String, Int, Int?)]
    )
    func counted(manifest: String, urls: Int, bytes: Int?) {
        for (limit, amount, code) in [(.urls, urls, .tooManyURLs), (.bytes, bytes, .tooLong)]
            as [(LoadBudget.Limit, Int?, ManifestIssue.Code)]
        {
            guard let amount else { continue }
            #expect(resolver(manifest, LoadBudget([limit: amount])).findings == [])
            let beyond = resolver(manifest, LoadBudget([limit: amount - 1]))
            #expect(beyond.findings.map(\.code) == [code])
            #expect(limit == .bytes || beyond.substitutions.count < urls)
        }
    }

    @Test("The first entry beyond the limit is reported once, beside all other issues")
    func sentence() {
        let manifest = """
            { "https://h/1": "a.txt",
              "https://h/2/": "d/", "https://h/3": "a.txt", "https://h/4": "gone.txt", "https://h/5/": "d/" }
            """
        for (amounts, code, cause) in [
            ([.urls: 4], .tooManyURLs, "the manifest maps more than 200000 URLs"),
            ([.bytes: 200], .tooLong, "the manifest's URLs, each with its own header fields, take more than 150 MB"),
        ] as [([LoadBudget.Limit: Int], ManifestIssue.Code, String)] {
            let findings = resolver(manifest, LoadBudget(amounts)).findings
            #expect(findings.map(\.code) == [code, .missingFile])
            let issue = SourceText(name: "m.json", bytes: Data(manifest.utf8)).issues(findings).first
            let sentence = "with \"d/\" \(cause), all of which an app would hold in memory"
            #expect(issue?.description == "m.json:2:19: error: \(sentence)")
        }
    }

    @Test("A media type and a header value have a length for which Foundation takes no quadratic time")
    func values() throws {
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
        for name in ["d/broken", "d/sub/broken"] { try link(name, to: "nowhere") }
        let keys = (0..<1000).map { "\"https://h/\($0)/\": \"d/\"" } + ["\"https://h/s/\": \"d/sub/\""]
        let findings = resolver("{" + keys.joined(separator: ",") + "}").findings
        #expect(findings.map(\.code) == [.missingFile, .missingFile, .missingFile])
        #expect(Set(findings.map(\.offset)).count == 2)
    }

    // MARK: - Folder walks

    @Test("A folder is walked once, even if it changes meanwhile or has problems")
    func walkedOnce() throws {
        try folder.write("", to: "e/x")
        try link("e/loop", to: ".")
        let files = try ManifestFolder(folder.url)
        let names = try files.files(below: "d/").files.map(\.name)
        #expect(names == ["1.txt", "2.txt", "index.html", "sub/3.txt"])
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("d"))
        #expect(try files.files(below: "d/").files.map(\.name) == names)
        for _ in 0..<2 {
            #expect(try files.files(below: "e/").problems.map(\.problem) == [.isLinkToFolder])
            unlink(folder.url.path + "/e/loop")
        }
    }

    @Test("One limit covers the names of all walks, and links do not multiply them")
    func names() throws {
        for number in 0..<10 { try link("l\(number)", to: "d") }
        // There are five names below "d": two text files, a page, a folder, and a text file in that folder.
        func reached(_ maximumNames: Int) throws -> Int {
            let files = try ManifestFolder(folder.url, budget: LoadBudget([.names: maximumNames]))
            return (0..<10).prefix { (try? files.files(below: "l\($0)/").files.count) == 4 }.count
        }
        #expect(try [4, 5, 14, 15, 49, 50].map(reached) == [0, 1, 2, 3, 9, 10])
        let issue = Finding(.exceeds(.names), with: "l3/", at: 0)
        #expect(issue.code == .endlessFolder && issue.message.hasSuffix("hold more than 1000000 files"))
    }
}

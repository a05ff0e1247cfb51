// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("The file of pages and options", .serialized)
struct SavedOptionsTests {
    @Test("add loads the pages of the file, with its options and those of the command line")
    func pages() async throws {
        let site = try RemoteSite()
        site.set("/page.html", "<!DOCTYPE html><title>a</title><link rel=stylesheet href=a.css>", type: "text/html")
        site.set("/a.css", "a { }", type: "text/css")
        let text = """
            { "$comment": "x", "pages": "\(site.url)/page.html", "with-references": true, "at-least": "90%", "max-size": 1000,
              "scroll": false }
            """
        try site.folder.write(text, to: "substitute.json")
        let dry = try await site.run("add", "--dry-run")
        let line = "substitute.json: substitute add --with-references --max-size 1000 \(site.url)/page.html\n"
        #expect(dry.status == 0 && dry.errors.hasPrefix(line), "\(dry)")
        #expect(dry.output.contains("/a.css"))
        let added = try await site.run("add", "manifest.json")
        #expect(added.status == 0, "\(added)")
        #expect(site.listing.keys.filter { $0.hasPrefix(site.name) }.count == 2)
        #expect(try await site.run("check", "--strict").output.contains("no errors, no warnings"))
        // A page on the command line counts alone.
        let one = try await site.run("add", "\(site.url)/a.css")
        #expect(one.errors == "" && one.output.hasPrefix("present "), "\(one)")
        #expect(try await site.run("add", "none.har").errors.contains("substitute.json") == false)
    }

    private static let wrongFiles = [
        ("[]", "1:1: write an object"), (#"{ "pages": [], }"#, "1:14: there is a comma"), ("{}", "1:1: name the pages"),
        ("{ \"pages\": [\"http://h\"],\n  \"devise\": [] }", "2:3: \"devise\" is no option of add"),
        (#"{ "pages": ["http://h"], "scroll": 1 }"#, "1:36: write true or false"),
        (#"{ "pages": ["http://h"], "device": true }"#, "1:36: write a text in quotation marks"),
        (#"{ "pages": ["../other/manifest.json", "http://h"] }"#, "1:12: begin each page with https://"),
        (#"{ "pages": ["http://h"], "browser": "/bin/sh" }"#, "1:26: --browser is for the command line only"),
        (#"{ "pages": ["http://h"], "output": ".." }"#, "1:26: --output is for the command line only"),
        (#"{ "pages": ["http://h"], "discard-edits": true }"#, "1:26: --discard-edits is for the command line only"),
        (#"{ "pages": ["--replace"] }"#, "1:13: write a text in quotation marks"),
    ]

    @Test("A mistake in the file is told with its place", arguments: wrongFiles)
    func mistakes(text: String, message: String) async throws {
        let folder = try TemporaryFolder()
        try folder.write("{}", to: "Substitutions/manifest.json")
        try folder.write(text, to: "Substitutions/substitute.json")
        for verb in ["add", "verify"] {
            let result = await Tool.run([verb], in: folder.url)
            let start = "substitute \(verb): Substitutions/substitute.json:\(message)"
            #expect(result.status == 1 && result.errors.hasPrefix(start), "\(result)")
        }
    }
}
#endif

// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LocalSubstitutionCache
import LoopbackServer
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("No command prints user information, or the value of a request's field", .serialized)
struct UserInformationTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("a { }\n", to: "a.css")
    }

    /// Random user information (RFC 3986 §3.2.1) with a mark in it.
    private struct Information {
        let mark: String
        let text: String

        init(_ numbers: inout Numbers) {
            mark = "hush\(UInt32.random(in: .min ... .max, using: &numbers))x"
            let parts = Array("az09-._~!$&'()*+,;=:").map(String.init) + ["%40", "%2F", "%C3%A4"]
            func part() -> String {
                (0..<Int.random(in: 0...6, using: &numbers)).map { _ in parts.randomElement(using: &numbers) ?? "" }
                    .joined()
            }
            text = part() + mark + part()
        }
    }

    /// Places of user information in a URL.
    private static let urls = [
        "https://INFO@h/a.css", "//INFO@h/a.css", "HTTPS://INFO@H/a.css", "ftp://INFO@h/a", "https://INFO@h:99999/",
        "https://INFO@h/%zz", "https://INFO@ü.example/", "https://INFO@*.h/a.css", "https://INFO@h/#a",
        "https://h/a.css?next=https://INFO@h/&b", "https://h/web/https://INFO@h/a.css", " https://INFO@h/a.css",
        "https://INFO@h/a b.css", "https://INFO@", "https://{INFO@h}/a.css",
    ]

    /// Places of a URL in an entry.
    private static let fields = [
        #""URL": 1"#, #""headers": { "X-A": "URL" }"#, #""headers": { "URL": "a" }"#, #""headers": "X-A: URL""#,
        #""type": "URL", "when": "URL", "until": "URL""#, #""ignoreQuery": ["URL"]"#, #""ignoreQuery": "URL""#,
    ]

    /// Places of a URL in a manifest.
    private static let manifests: [String] = [
        #"{ "URL": "a.css" }"#, #"{ "URL": "a.css", "URL": "a.css" }"#, #"{ "https://h/a": "URL" }"#,
        #"{ "URL": ["a.css"] }"#, #"{ "URL": "b/" }"#, #"{ "$schema": ["URL"] }"#, #"{ "URL" "a.css" }"#,
        #"{ "a.css": "URL", "$comment": "URL", }"#, #"{ "URL: "a.css" }"#, #"{ "https://h/a": "../../URL" }"#,
        #"{ URL": "a.css" }"#, #"{ URL: a.css, "https://h/a": URL }"#, "{ 'URL': “URL” }",
        #"{ "URL": { "file": "a.css", "ignoreQuery": true } }"#, #"{ "URL": { "https://h/a": "a.css" } }"#,
        "{\n  \"https://h/a\": \"a.css\" // URL\n}",
    ]

    private static let commands = [
        "check|MANIFEST", "check|--format|json|MANIFEST", "check|--format|github|MANIFEST", "preview|-o|-|MANIFEST",
        "preview|--format|text|MANIFEST", "preview|--format|json|MANIFEST", "explain|MANIFEST|URL", "explain|URL",
        "explain|--format|json|MANIFEST|URL|https://h/b", "add|-n|MANIFEST|URL", "add|-n|MANIFEST|HAR",
        "explain|MANIFEST|HAR", "explain|--format|json|MANIFEST|HAR", "add|--as|URL|MANIFEST|https://h/",
        "update|-n|URL", "check|URL", "init|--schema|URL", "add|--only-host|URL|MANIFEST|HAR", "preview|URL",
        "extension|URL", "help|URL", "preview|--used|HAR|MANIFEST",
    ]

    /// Runs commands, and looks for the marks in what they print.
    private func run(_ commands: some Sequence<String>, _ url: String, finds marks: [String]) async {
        for line in commands {
            let words = line.split(separator: "|").map { word in
                String(word).replacing("MANIFEST", with: "manifest.json").replacing("HAR", with: "page.har")
                    .replacing("URL", with: url)
            }
            let result = await Tool.run(words, in: folder.url)
            for mark in marks { #expect(!"\(result)".contains(mark), "\(words): \(result)") }
        }
    }

    @Test("Neither terminal, report nor JSON shows it, wherever it stands", arguments: 1...(Program.isLongRun ? 40 : 5))
    func printed(seed: UInt64) async throws {
        var numbers = Numbers(state: seed)
        let entries = Self.fields.map { "{ \"https://h/a\": { \"file\": \"a.css\", \($0) } }" }
        for text in Self.manifests + entries {
            let (information, value) = (Information(&numbers), Information(&numbers))
            let url = Self.urls.randomElement(using: &numbers)?.replacing("INFO", with: information.text) ?? ""
            try folder.write(text.replacing("URL", with: url), to: "manifest.json")
            let asked = ["Cookie", "Authorization", "X-A"].map { HAREntry.Field($0, value.text) }
            let entries = [HAREntry(url: url), .init(url: url, status: "404"), .init(url: "https://h/x", asked: asked)]
            try folder.write(HAR.text(entries), to: "page.har")
            let others = Self.commands.dropFirst().shuffled(using: &numbers)
            let commands = [Self.commands[0]] + others.prefix(Program.isLongRun ? others.count : 2)
            await run(commands, url, finds: [information.mark, value.mark])
        }
    }

    @Test("What a server is asked shows it neither")
    func servers() async throws {
        let server = try LoopbackServer { _ in .text("no", status: 404) }
        defer { server.stop() }
        var numbers = Numbers(state: 1)
        let information = Information(&numbers)
        let url = "\(server.url.absoluteString)/a.css?next=https://\(information.text)@h/"
        try folder.write("{ \"\(url)\": \"a.css\" }", to: "manifest.json")
        let others = ["update", "preview|--outdated|-o|-", "add|URL|URLx", "extension|-o|e"]
        await run(["update|-n", "update|-n|--format|json"] + others, url, finds: [information.mark])
    }
}
#endif

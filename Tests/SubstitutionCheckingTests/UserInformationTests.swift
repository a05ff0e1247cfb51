import Foundation
import LocalSubstitutionCache
import SubstitutionChecking
import SubstitutionStandards
import TestSupport
import Testing

@Suite("User information of URLs is hidden")
struct UserInformationTests {
    /// Texts with a user name and a password, and the texts that are shown.
    static let texts = [
        ("https://user:s3cr3t@h/", "https://…@h/"), ("https://s3cr3t@h/", "https://…@h/"),
        ("HTTPS://User:s3cr3t@Example.com/a", "HTTPS://…@Example.com/a"), ("//user:s3cr3t@h/p", "//…@h/p"),
        ("user:s3cr3t@host/path", "…@host/path"), ("user:s3cr3t@10.0.0.1", "…@10.0.0.1"),
        ("  https://user:s3cr3t@h", "  https://…@h"), ("ftp://user:s3cr3t@h/", "ftp://…@h/"),
        ("https://a@user:s3cr3t@@h/x", "https://…@h/x"), ("https://:s3cr3t@h/", "https://…@h/"),
        ("https://user:s3cr3t@[::1]:80/", "https://…@[::1]:80/"), ("https://ü:s3cr3t@h/", "https://…@h/"),
        // Too many slashes, too few, and backslashes.
        ("https:/user:s3cr3t@h", "https:/…@h"), ("https:user:s3cr3t@h", "https:…@h"),
        ("https:///user:s3cr3t@h/x", "https:///…@h/x"), ("https:\\\\user:s3cr3t@h\\a", "https:\\\\…@h\\a"),
        // Characters that usually end an authority, inside the user info.
        ("https://user:s3]x/cr3t@h/", "https://…@h/"), ("https://user:s3/cr3t@h/", "https://…@h/"),
        ("https://user:s3cr3t?x@h/", "https://…@h/"),
        ("https://user:s3cr3t#x@h/", "https://…@h/"), ("https://user: s3cr3t@h/", "https://…@h/"),
        ("https://user:s3cr3t x@h/", "https://…@h/"), ("https://user:s3cr3t\n@h/", "https://…@h/"),
        ("https://DOMAIN\\user:s3cr3t@h/", "https://DOMAIN\\…@h/"), ("https://user:s3cr3t\"x@h/", "https://…@h/"),
        // Percent-encoded or escaped.
        ("https://user%40corp:s3cr3t@h/", "https://…@h/"), ("https://user:s3cr3t%40h/", "https://…%40h/"),
        ("https%3A%2F%2Fuser%3As3cr3t%40h%2F", "https%3A%2F%2F…%40h%2F"),
        ("https:\\/\\/user:s3cr3t@h\\/a", "https:\\/\\/…@h\\/a"), ("//user:s3cr3t\\u0040h/a", "//…\\u0040h/a"),
        ("https://user:s3cr3t&#64;h/a", "https://…&#64;h/a"), ("https://user:s3cr3t&#x40;h", "https://…&#x40;h"),
        ("https://user:s3cr3t&#064;h/a", "https://…&#064;h/a"), ("https://user:s3cr3t&#X40;h", "https://…&#X40;h"),
        ("https://user:s3cr3t&commat;h/", "https://…&commat;h/"), ("//user:s3cr3t\\x40h/", "//…\\x40h/"),
        ("https://user:s3cr3t\u{FF20}h/", "https://…\u{FF20}h/"), ("//user:s3cr3t\u{FE6B}h", "//…\u{FE6B}h"),
        // Inside another URL, and inside a text.
        ("https://x/?next=https://user:s3cr3t@h/&b=1", "https://x/?next=https://…@h/&b=1"),
        ("https://x/?next=//user:s3cr3t@h/", "https://x/?next=//…@h/"),
        ("https://x/?n=https%3A%2F%2Fu%3As3cr3t%40h%2F&m=a@b", "https://x/?n=https%3A%2F%2F…%40h%2F&m=a@b"),
        ("/web/https://user:s3cr3t@h/", "/web/https://…@h/"),
        ("see https://user:s3cr3t@h/a, //user:s3cr3t@h", "see https://…@h/a, //…@h"),
        ("{\"https://user:s3cr3t@h/a\":\"logo@2x.png\"}", "{\"https://…@h/a\":\"logo@2x.png\"}"),
    ]

    @Test("User information is hidden wherever it is, and however the URL is written", arguments: Self.texts)
    func hidden(text: String, shown: String) {
        // In a message, what precedes a backslash is left out, too.
        let seen = shown.replacing("DOMAIN\\", with: "")
        for (start, end) in [
            ("manifest.json:1:3: error: \"", "\" is not a URL"), ("file     ", " → a@2x.png"), ("", ""),
        ] {
            let line = SecretMask.shown(start + visible(text) + end)
            #expect(line == start + seen + end)
            #expect(SecretMask.shown(line, isOwn: true) == line)
        }
        #expect(UserInformation.hidden(in: text) == shown)
        #expect(UserInformation.hidden(in: shown) == shown)
        #expect(UserInformation.isPresent(in: text))
    }

    @Test(
        "A text with an at sign but no user information stays unchanged",
        arguments: [
            "https://unpkg.com/react@18", "https://h/@scope/pkg", "/@scope/pkg", "mailto:me@example.com",
            "me@example.com", "logo@2x.png", "https://h//logo@2x.png", "img:logo@2x.png", "C:\\img\\logo@2x.png",
            "https://h:8080/@x/y@2x.png", "https://h/logo%402x.png", "git@github.com:org/repo.git", "npm:react@next",
            "https://fonts.example/css2?family=Roboto:wght@400;700&family=Inter:ital,wght@0,400..700;1,700",
            "https://h/?mail=me@x.org", "https://[::1]:8080/me@x", "file:///Users/x/logo@2x.png", "//@", ":@",
            "see https://h and mail me@x.org", "\"https://example.com/a\":\"logo@2x.png\",", "data:text/html,me@x.org",
            "https://h/npm/a@1,npm/b@2", "https://h\\img\\logo@2x.png", "https://h/#/@user:server.org", "https://@h/",
        ]
    )
    func kept(text: String) {
        #expect(UserInformation.hidden(in: text) == text)
        #expect(SecretMask.shown("manifest.json:1:3: error: \"\(text)\" is not a URL", isOwn: true).contains(text))
        #expect(!UserInformation.isPresent(in: text))
    }

    @Test("No cut shows a part of a password, wherever the password is", arguments: Self.texts.map(\.0))
    func cut(text: String) {
        for count in 0...220 {
            let message = "\(quoted(String(repeating: "a", count: count) + " " + text)) is not a URL"
            #expect(!SecretMask.shown(message).contains("s3"), "\(message)")
        }
        for long in [text.replacing("s3cr3t", with: String(repeating: "s3cr3t", count: 100))] {
            #expect(!SecretMask.shown(quoted(long)).contains("s3"))
            #expect(!SecretMask.shown(shortened(long) + ": 2 files").contains("s3"))
        }
    }

    @Test("The message about user information proposes the URL without it")
    func userInformation() {
        let message = URLProblem.userInfo.message(for: "https://user:s3cr3t@h/a.css", meant: "https://h/a.css")
        #expect(message == "\"https://…@h/a.css\" holds a user name; write \"https://h/a.css\"")
    }

    @Test("The rest of a URL is kept when its user information is removed")
    func removed() {
        #expect(UserInformation.removed(from: "https://a@user:s3cr3t@h/x@2x.png") == "https://h/x@2x.png")
    }

    @Test(
        "The authority of a URL loses its user information, and the rest of the URL is kept",
        arguments: [
            ("https://a:b@c@h:8/x?y", "https://h:8/x?y"), ("https://a@h", "https://h"), ("https://h/", "https://h/"),
            ("https://h/virtual:foo@bar.css", nil), ("https://h?time=12:30@berlin", nil), ("data:,a:b@c", nil),
            ("https://h/?u=https://a:pw@h/", nil), ("https://h#a:b@c", nil), ("", nil), ("about:blank", nil),
        ]
    )
    func authority(url: String, expected: String?) {
        #expect(UserInformation.removed(fromAuthorityOf: url) == expected ?? url)
    }

    @Test("Random surrounding text never makes user information visible")
    func random() {
        let parts = [
            "a", "z", "0", "4", "9", "/", "\\", "//", ":", "@", "?", "#", "&", "=", " ", "\"", "'", "%", "%2F", "%40",
            "%3A", ".", "-", "{", "}", "[", "]", ",", ";", "https://", "http:", "npm:", "\\u0040", "\t", "\n", "é", "+",
            "(", ")", "25", "mailto:", "data:", "2x", "://", "www.x.org", "\u{200B}", "\u{A0}",
        ]
        var generator = SystemRandomNumberGenerator()
        func around() -> String {
            (0..<Int.random(in: 0...12, using: &generator)).compactMap { _ in parts.randomElement(using: &generator) }
                .joined()
        }
        for _ in 0..<(Program.isLongRun ? 20_000 : 2000) {
            let text = around() + "user:s3cr3t@host" + around()
            // The whole text, a message about it, and a message about its beginning.
            let cut = quoted(text, limit: Int.random(in: 0...text.unicodeScalars.count, using: &generator))
            for shown in [
                UserInformation.hidden(in: text), SecretMask.shown("\(quoted(text)) is"), SecretMask.shown("\(cut) is"),
            ] where shown.contains("s3") {
                Issue.record("\(text.debugDescription) is shown as \(shown.debugDescription)")
            }
        }
    }

    @Test(
        "The cost is linear",
        arguments: [":", "a:", "%3A", "//", "https://a:b ", "@:", "\"a:b", "%25", "a:b@1 ", "https:"]
    )
    func cost(part: String) {
        let growth = Growth.whenEightfold(Program.isLongRun ? 100_000 : 2000) { count in
            let text = String(repeating: part, count: count) + "@2x"
            #expect(UserInformation.hidden(in: text).utf8.count <= text.utf8.count + 2 * count)
        }
        #expect(growth < Growth.limit)
    }
}

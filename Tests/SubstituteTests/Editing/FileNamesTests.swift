// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LocalSubstitutionCache
import TestSupport
import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

@Suite("A file is named after its URL, within the limits of every file system")
struct FileNamesTests {
    private static let (css, none) = ("text/css", "")

    private static let named = [
        ("http://H.Example/Dir/A.css", css, "h.example/Dir/A.css"), ("//h/a.css", css, "h/a.css"),
        ("https://h:8080/a.css", css, "h_8080/a.css"), ("https://h:443/a.css", css, "h/a.css"),
        ("https://[::1]/a.css", css, "[__1]/a.css"), ("https://h", "text/html", "h/index.html"),
        ("https://h/", none, "h/index"), ("https://h/?q=/../x", "text/html", "h/index.html"),
        ("https://h/dir/", "text/html", "h/dir/index.html"), ("https://h//a///b.css", css, "h/a/b.css"),
        ("https://h/page.php", "text/html", "h/page.php.html"), ("https://h/v1.2", css, "h/v1.2.css"),
        ("https://h/A.PNG", "image/png", "h/A.PNG"), ("https://h/a", "x/unknown", "h/a"),
        ("https://h/cafe%CC%81.css", css, "h/caf\u{E9}.css"),
        ("https://h/%F0%9F%91%A9%F0%9F%8F%BD.css", css, "h/\u{1F469}\u{1F3FD}.css"),
    ]

    @Test("The host and the path become folders and a file name", arguments: named)
    func names(url: String, type: String, path: String) throws {
        // Compare bytes: Swift treats strings in different Unicode forms as equal, but a file system may not.
        #expect(try Array(FileNames.path(for: URLPattern(url), MediaType(type)).utf8) == Array(path.utf8))
    }

    @Test("URLs that differ only in case, or in their queries, are named in linear time", arguments: [true, false])
    func many(isCase: Bool) throws {
        let type = MediaType("text/css")
        let growth = try Growth.whenEightfold(500) { count in
            var (names, paths) = (FileNames(in: folder.url), Set<String>())
            for number in 0..<count {
                let name = (0..<13).map { number >> $0 & 1 == 0 ? "a" : "A" }.joined()
                let url = try URLPattern(isCase ? "https://h/\(name).css" : "https://h/a.css?\(number)")
                paths.insert(names.path(FileNames.path(for: url, type), orExisting: { _ in false }))
            }
            #expect(paths.count == count && paths.allSatisfy { $0.hasPrefix("h/") })
        }
        #expect(growth < Growth.limit)
    }

    private static let rejected = [
        ("/../../a.css", "a.css"), ("/%2e%2e/%2E%2e/a.css", "a.css"), ("/..%2F..%2Fa.css", "_._.._a.css"),
        ("/a%0A%0Db.css", "a__b.css"), ("/a%C2%9Bb.css", "a_b.css"), ("/C:/a.css", "C_/a.css"),
        ("/a*b%3F%22%3C%3E%7C.css", "a_b_____.css"), ("/.git/a.css", "_git/a.css"), ("/...", "_._.css"),
        ("/a%20/b.css", "a_/b.css"), ("/a.css.", "a.css_.css"), ("/~/a.css", "_/a.css"), ("/CON", "_CON.css"),
        ("/com1.x.css", "_com1.x.css"), ("/console.css", "console.css"), ("/%FF%FE.css", "%FF%FE.css"),
        ("/100%25.css", "100%.css"), ("/a%E2%80%AEb.css", "a_b.css"), ("/a%C2%A0b.css", "a_b.css"),
        ("/%EE%80%80.css", "_.css"),
        // A combining mark would form one character with the preceding scalar. Some letters would form one
        // character with the following scalar.
        ("/%CC%81a.css", "_\u{301}a.css"), ("/.%CC%81a.css", "_\u{301}a.css"), ("/%EF%B8%8F.css", "_\u{FE0F}.css"),
        ("/%F0%9F%8F%BD/a.css", "_\u{1F3FD}/a.css"), ("/%E0%B5%8E/a.css", "\u{D4E}_/a.css"),
    ]

    @Test("Names that a file system or shell rejects or misreads are replaced", arguments: rejected)
    func replaced(path: String, expected: String) throws {
        let found = try FileNames.path(for: URLPattern("https://h\(path)"), MediaType("text/css"))
        #expect(Array(found.utf8) == Array("h/\(expected)".utf8), "\(found)")
    }

    private static let longPaths: [String] =
        ["a", "%C3%A9", "%F0%9F%98%80", "a.", ".", "%CC%81"].map { String(repeating: $0, count: 300) }
        + [
            String(repeating: "a/", count: 1000), String(repeating: "abcdefghi/", count: 200),
            "b." + String(repeating: "c", count: 300),
        ]

    @Test("Long names and paths are cut, but keep their extension and stay distinct", arguments: longPaths)
    func long(path: String) throws {
        let paths = try ["1.css", "2.css", "2.css?q"].map {
            FileNames.path(for: try URLPattern("https://h/\(path)\($0)"), MediaType("text/css"))
        }
        #expect(paths[0] != paths[1] && paths[1] == paths[2])
        for path in paths {
            #expect(path.hasPrefix("h/") && path.hasSuffix(".css") && path.utf8.count <= 500, "\(path)")
            let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            #expect(parts.count <= 50 && parts.allSatisfy { (1...140).contains($0.count) }, "\(path)")
        }
    }

    @Test("Long host names are cut, but stay distinct")
    func longServer() throws {
        let host = Array(repeating: String(repeating: "a", count: 60), count: 4).joined(separator: ".")
        let paths = try ["b", "c"].map {
            FileNames.path(for: try URLPattern("https://\(host).\($0)/a.css"), MediaType("text/css"))
        }
        #expect(paths[0] != paths[1])
        for path in paths { #expect(path.utf8.count < 140 && path.hasSuffix("/a.css"), "\(path)") }
    }

    // MARK: - Names that are already used

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func paths(_ urls: [String], usable: Set<String> = []) throws -> [String] {
        var names = FileNames(in: folder.url)
        return try urls.map { url in
            let path = FileNames.path(for: try URLPattern("https://h/\(url)"), MediaType("text/css"))
            return names.path(path) { usable.contains($0) }
        }
    }

    private static let repeated = [
        (["a.css", "a.css?1", "a.css?2"], ["a.css", "a-2.css", "a-3.css"]),
        (["a.css", "A.CSS", "A.css"], ["a.css", "A-2.CSS", "A-3.css"]),
        (["a-2.css", "a.css", "A.css"], ["a-2.css", "a.css", "A-3.css"]),
        (["caf%C3%A9", "cafe%CC%81", "CAF%C3%89"], ["café.css", "café-2.css", "CAFÉ-3.css"]),
        (["stra%C3%9Fe", "STRA%E1%BA%9EE"], ["straße.css", "STRAẞE-2.css"]),
        (["a%3Ab", "a_b", "a%5Cb"], ["a_b.css", "a_b-2.css", "a_b-3.css"]),
        (["", "index.css", "?q"], ["index.css", "index-2.css", "index-3.css"]),
        (["v1.2.css", "V1.2.css"], ["v1.2.css", "V1.2-2.css"]), (["a/.b", "a/_b"], ["a/_b.css", "a/_b-2.css"]),
        // A path that is both a file and a folder gets two names.
        (["a.css", "a.css/b.css", "a.css/c.css"], ["a.css", "a.css-2/b.css", "a.css-2/c.css"]),
        (["a.css/b.css", "a.css"], ["a.css/b.css", "a-2.css"]),
        (["a.css/b.css", "A.CSS", "A.css/c.css"], ["a.css/b.css", "A-2.CSS", "a.css/c.css"]),
    ]

    @Test("A name is used only once, regardless of case and Unicode form", arguments: repeated)
    func once(urls: [String], expected: [String]) throws { #expect(try paths(urls) == expected.map { "h/\($0)" }) }

    @Test("URLs that differ in case share one folder, in its existing spelling")
    func folders() throws {
        #expect(try paths(["Img/1.css", "img/2.css", "IMG/1.css"]) == ["h/Img/1.css", "h/Img/2.css", "h/Img/1-2.css"])
        try folder.write("", to: "H/CSS/a.css")
        #expect(try paths(["css/a.css", "css/b.css"]) == ["H/CSS/a-2.css", "H/CSS/b.css"])
    }

    @Test("A new file does not get an existing file's name, unless it may use that file")
    func existing() throws {
        for path in ["h/a.css", "h/dir/deep.css", "h/.hidden"] { try folder.write("", to: path) }
        #expect(try paths(["a.css", "dir", "dir.css"]) == ["h/a-2.css", "h/dir.css", "h/dir-2.css"])
        #expect(try paths(["a.css", "A.css", "a.css?2"], usable: ["h/a.css"]) == ["h/a.css", "h/a.css", "h/a.css"])
        var names = FileNames(in: folder.url)
        #expect(["H/A.CSS", "h/dir", "h/b.css", "img"].map { names.isTaken($0) } == [true, true, false, false])
        names.markTaken("img/b.css")
        #expect(names.isTaken("img") && names.isTaken("IMG/B.css"))
    }

    @Test("No URL leads out of the folder, or to a name that some system rejects")
    func everyByte() throws {
        let bytes = (0..<256).map { String(format: "%%%02X", $0) }
        var names = FileNames(in: folder.url)
        for first in bytes + ["..", ".", "~", "%CC%81", "%E0%B5%8E", "%F0%9F%98%80"] {
            for second in ["", "a", "..", "%2F..%2F", "%CC%81", ".", "%20"] {
                for rest in ["\(first)\(second)", "\(second)\(first)/a", "a\(first)/\(second)"] {
                    let url = try URLPattern(requested: "https://h/\(rest)")
                    let path = names.path(FileNames.path(for: url, nil)) { _ in false }
                    let scalars = path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
                    let areFine = scalars.allSatisfy { name in
                        !name.isEmpty && name.first != "." && name.last != "." && name.last != " "
                            && !name.contains { $0.value < 0x20 || "\u{7F}\\:*?\"<>|".unicodeScalars.contains($0) }
                    }
                    #expect(areFine && scalars.count >= 2, "\(rest): \(path)")
                    #expect(path.split(separator: "/").count == scalars.count, "\(rest): \(path)")
                }
            }
        }
    }
}
#endif

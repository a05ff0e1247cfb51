import Foundation
import LocalSubstitutionDevelopment
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

/// Folder contents that a repository cannot hold, or that no designer should create.
@Suite("Hostile folders and manifests")
struct HostileFolderTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("inside", to: "site/real.txt")
    }

    private var site: URL { folder.url.appendingPathComponent("site") }

    private func link(_ name: String, to target: String) throws {
        let path = site.appendingPathComponent(name).path
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    private func issues(_ manifest: String) -> [ManifestIssue] {
        issuesOf(Data(manifest.utf8), named: "manifest.json", in: site)
    }

    private func answer(_ manifest: String, _ url: String) throws -> String? {
        let cache = try SubstitutionCache(manifestData: Data(manifest.utf8), folder: site)
        let request = URLRequest(url: try #require(URL(string: url)))
        return cache.cachedResponse(for: request).map { String(decoding: $0.data, as: UTF8.self) }
    }

    @Test(
        "A symbolic link out of the folder is refused, whether to a file, to a folder or inside a path",
        arguments: [
            #"{ "https://h/a": "passwd" }"#, #"{ "https://h/a/": "out/" }"#, #"{ "https://h/a": "out/secret.txt" }"#,
            #"{ "https://h/a": "sideways/secret.txt" }"#, #"{ "https://h/": "./" }"#,
        ]
    )
    func linkOut(manifest: String) throws {
        try folder.write("secret", to: "site-secret/secret.txt")
        try link("passwd", to: "/etc/passwd")
        try link("out", to: folder.url.appendingPathComponent("site-secret").path)
        try link("sideways", to: "../site-secret")
        #expect(Set(issues(manifest).map(\.code)) == [.outsideFolder])
    }

    @Test("A symbolic link that stays inside is followed to a file, and in the path of an entry")
    func linkInside() throws {
        try link("alias.txt", to: "real.txt")
        #expect(try answer(#"{ "https://h/a": "alias.txt" }"#, "https://h/a") == "inside")
        #expect(try answer(#"{ "https://h/": "./" }"#, "https://h/alias.txt") == "inside")
        try folder.write("deep", to: "site/deep/er/x.txt")
        try link("short", to: "deep/er")
        #expect(try answer(#"{ "https://h/a": "short/x.txt" }"#, "https://h/a") == "deep")
        #expect(try answer(#"{ "https://h/": "short/" }"#, "https://h/x.txt") == "deep")
    }

    @Test("A link to a folder is an error of the folder that holds it", arguments: [".", "..", "../real", "sub"])
    func linkToFolder(target: String) throws {
        try folder.write("x", to: "site/real/sub/x.txt")
        try link("real/link", to: target)
        for manifest in [#"{ "https://h/": "real/" }"#, #"{ "https://h/": "./" }"#] {
            let issues = issues(manifest)
            let message = "\"real/link\" is a symbolic link to a folder, which the entry of a folder does not follow"
            #expect(issues.map(\.code) == [.endlessFolder] && issues.map(\.message) == [message])
        }
        #expect(issues(#"{ "https://h/a": "real/link" }"#).map(\.code) == [.wrongFileKind])
    }

    @Test("The folder may be the root of the file system")
    func rootFolder() {
        let root = FilePath("/")
        #expect(root.appending("etc") == FilePath("/etc"))
        #expect(FilePath("/etc/passwd").isInside(root))
    }

    @Test("A broken link and a link to itself are each an error of the folder that holds them")
    func brokenLinks() throws {
        try link("broken", to: "gone.txt")
        try link("self", to: "self")
        #expect(issues(#"{ "https://h/": "./" }"#).map(\.code) == [.missingFile, .endlessFolder])
        for path in ["self", "self/x.txt"] {
            #expect(issues("{ \"https://h/a\": \"\(path)\" }").map(\.code) == [.endlessFolder])
        }
    }

    @Test("A file in exactly 100 folders is read")
    func depth() throws {
        let deep = String(repeating: "d/", count: ManifestFolder.maximumDepth) + "x.txt"
        try folder.write("x", to: "site/\(deep)")
        for manifest in ["{ \"https://h/\": \"./\" }", "{ \"https://h/x\": \"\(deep)\" }"] {
            #expect(issues(manifest).map(\.message) == [])
        }
        try folder.write("x", to: "site/d/\(deep)")
        #expect(issues(#"{ "https://h/": "./" }"#).map(\.code) == [.endlessFolder])
    }

    /// Resolves a manifest, makes a change on disk, and then reads the manifest's files.
    ///
    /// - Parameters:
    ///   - manifest: The manifest's text.
    ///   - opensAgain: True to open the folder again before reading; false to use the directories that are already
    ///     open.
    ///   - exchange: The change on disk, made after the manifest was resolved and before the files are read.
    /// - Returns: The texts of all files, or the first problem.
    /// - Throws: The error of the manifest or of the exchange.
    private func read(_ manifest: String, opensAgain: Bool = false, after exchange: () throws -> Void) throws
        -> Result<[String], FileProblem>
    {
        let manifest = try SubstitutionManifest(Data(manifest.utf8), name: "m").resolved(in: site)
        try exchange()
        let folder = opensAgain ? try OpenedFolder(site.path) : manifest.folder
        return Result { () throws(FileProblem) in
            try manifest.substitutions.map { substitution throws(FileProblem) in
                let file = try folder.file(substitution.foundFile)
                return String(decoding: try FileContents(of: file, reading: .copied).data, as: UTF8.self)
            }
        }
    }

    @Test(
        "A directory that is replaced with a link after the check leads nowhere",
        arguments: [#"{ "https://h/a": "d/e/real.txt" }"#, #"{ "https://h/": "d/" }"#],
        ["d", "d/e"]
    )
    func exchangedDirectory(manifest: String, exchanged name: String) throws {
        for opensAgain in [false, true] {
            let (moved, outside) = (folder.url.path + "/moved", folder.url.path + "/outside")
            for path in [site.path + "/d", moved] { try? FileManager.default.removeItem(atPath: path) }
            try folder.write("inside", to: "site/d/e/real.txt")
            for path in ["outside/e/real.txt", "outside/real.txt"] { try folder.write("secret", to: path) }
            let directory = site.path + "/" + name
            let result = try read(manifest, opensAgain: opensAgain) {
                #expect(rename(directory, moved) == 0)
                #expect(symlink(outside, directory) == 0)
            }
            // An open descriptor still refers to the directory that was checked.
            #expect(result == (opensAgain ? .failure(.replaced) : .success(["inside"])))
        }
    }

    @Test("If the manifest's folder itself is replaced, the folder that was opened is read")
    func exchangedRoot() throws {
        try folder.write("inside", to: "site/d/real.txt")
        let result = try read(#"{ "https://h/a": "d/real.txt", "https://h/b": "real.txt" }"#) {
            try FileManager.default.moveItem(at: site, to: folder.url.appendingPathComponent("moved"))
            for path in ["site/d/real.txt", "site/real.txt"] { try folder.write("secret", to: path) }
        }
        #expect(result == .success(["inside", "inside"]))
    }

    @Test("A file that is replaced with a link, a FIFO or a folder is refused", arguments: ["link", "fifo", "folder"])
    func exchangedFile(kind: String) throws {
        let file = site.appendingPathComponent("real.txt")
        let result = try read(#"{ "https://h/a": "real.txt" }"#) {
            try FileManager.default.removeItem(at: file)
            switch kind {
            case "link": try link("real.txt", to: "/etc/passwd")
            case "fifo": #expect(mkfifo(file.path, 0o600) == 0)
            default: try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
            }
        }
        let problems: [String: FileProblem] = ["link": .replaced, "fifo": .notRegular, "folder": .isFolder]
        #expect(result == problems[kind].map { .failure($0) })
    }

    @Test("A directory that was replaced with a link is refused instead of listed")
    func exchangedBeforeListing() throws {
        for path in ["site/d/inside.txt", "outside/secret.txt"] { try folder.write("x", to: path) }
        let opened = try OpenedFolder(site.path)
        let directory = FilePath(opened.realPath.text + "/d")
        #expect(try opened.names(in: directory) == ["inside.txt"])
        try FileManager.default.removeItem(at: site.appendingPathComponent("d"))
        try link("d", to: "../outside")
        #expect(throws: FileProblem.outside) { try OpenedFolder(site.path).names(in: directory) }
    }

    @Test("The place of an open directory is where it is now", arguments: ["d", "d (deleted)", "a\nb", "\u{E9}"])
    func place(name: String) throws {
        let directory = site.appendingPathComponent(name)
        func make() throws -> Int32 {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            return open(directory.path, O_RDONLY | O_DIRECTORY)
        }
        let root = try FilePath(resolving: site.path)
        let descriptor = try make()
        defer { close(descriptor) }
        #expect(try FilePath(ofOpen: descriptor) == root.appending(name))
        let moved = site.appendingPathComponent("moved")
        #expect(rename(directory.path, moved.path) == 0)
        let other = try make()
        defer { close(other) }
        #expect(try FilePath(ofOpen: descriptor) == root.appending("moved"))
        #expect(try FilePath(ofOpen: other) == root.appending(name))
        #expect(rmdir(moved.path) == 0)
        // On Linux, the kernel now calls the deleted directory "moved (deleted)".
        let namesake = site.appendingPathComponent("moved (deleted)")
        try FileManager.default.createDirectory(at: namesake, withIntermediateDirectories: true)
        #expect(throws: FileProblem.self) { try FilePath(ofOpen: descriptor) }
    }

    @Test("While a directory is exchanged for a link again and again, nothing outside is answered")
    func exchangedAllTheTime() async throws {
        try folder.write("inside", to: "site/d/real.txt")
        try folder.write("secret", to: "outside/real.txt")
        let root = folder.url.path
        try FileManager.default.createSymbolicLink(atPath: "\(root)/link", withDestinationPath: "\(root)/outside")
        let isDone = Flag()
        async let exchanges = onThread {
            var count = 0
            repeat {
                for (old, new) in [("site/d", "spare"), ("link", "site/d"), ("site/d", "link"), ("spare", "site/d")] {
                    count += rename("\(root)/\(old)", "\(root)/\(new)") == 0 ? 1 : 0
                }
            } while !isDone.isSet
            return count
        }
        let texts = try await onThread {
            (0..<(Program.isLongRun ? 50_000 : 3000)).map { number in
                let manifest = number % 2 == 0 ? #"{ "https://h/real.txt": "d/real.txt" }"# : #"{ "https://h/": "d/" }"#
                return (try? answer(manifest, "https://h/real.txt")) ?? nil
            }
        }
        isDone.set()
        #expect(try await exchanges > 0)
        #expect(Set(texts.map { $0 ?? "nothing" }).isSubset(of: ["inside", "nothing"]))
    }

    @Test("A folder without a file URL is an error, and nothing is read from the disk")
    func remoteFolder() throws {
        let remote = try #require(URL(string: "https://example.com\(site.path)/"))
        let error = #expect(throws: ManifestError.self) {
            _ = try SubstitutionCache(manifestData: Data(#"{ "https://h/a": "real.txt" }"#.utf8), folder: remote)
        }
        let words = "is not a file URL; download the manifest and its files first"
        #expect(error?.issues.first?.message.hasSuffix(words) == true)
    }

    // MARK: - Slow input

    @Test(
        "For one URL, 16 lists of 100 names answer many parameters in time, and more are refused with a single error",
        .timeLimit(.minutes(20))
    )
    func longLists() throws {
        let names = (0..<99).map { "\"p\($0)\"" }.joined(separator: ",")
        func entries(_ count: Int) -> String {
            func entry(_ number: Int) -> String {
                "\"https://h/a?x=\(number)\": { \"file\": \"real.txt\", \"ignoreQuery\": [\(names), \"q\(number)\"] }"
            }
            return "{" + (0..<count).map(entry).joined(separator: ",") + "}"
        }
        let cache = try SubstitutionCache(manifestData: Data(entries(16).utf8), folder: site)
        for (name, isAnswered) in [("p", true), ("z", false)] {
            let parameters = (0..<(Program.isLongRun ? 100_000 : 300)).map { "\(name)\($0 % 99)=\($0)" }
            let url = "https://h/a?x=0&\(parameters.joined(separator: "&"))"
            let request = URLRequest(url: try #require(URL(string: url)))
            #expect((cache.cachedResponse(for: request) != nil) == isAnswered)
            #expect(cache.explain(request).substitution == nil || isAnswered)
        }
        let issues = issues(entries(100))
        let message = "more than 16 entries for \"https://h/a\" have a list of their own in \"ignoreQuery\""
        #expect(issues.map(\.code) == [.badQueryRule] && issues.map(\.message) == [message])
    }

    @Test("A FIFO, a socket or a device as a file is an error, and does not block")
    func notRegular() throws {
        #expect(mkfifo(site.appendingPathComponent("fifo").path, 0o600) == 0)
        // Only Linux lets every user create a socket in this way.
        #if os(Linux)
        #expect(mknod(site.appendingPathComponent("socket").path, S_IFSOCK | 0o600, 0) == 0)
        #expect(issues(#"{ "https://h/a": "socket" }"#).map(\.code) == [.wrongFileKind])
        #endif
        try link("null", to: "/dev/null")
        #expect(issues(#"{ "https://h/a": "fifo" }"#).map(\.code) == [.wrongFileKind])
        #expect(issues(#"{ "https://h/a": "null" }"#).map(\.code) == [.outsideFolder])
        #expect(Set(issues(#"{ "https://h/": "./" }"#).map(\.code)) == [.wrongFileKind, .outsideFolder])
    }

    @Test("A name that is too long for the system is an error")
    func tooLong() throws {
        let name = String(repeating: "x", count: 5000)
        #expect(issues("{ \"https://h/a\": \"\(name)\" }").map(\.code) == [.missingFile])
        #expect(throws: FileProblem.unreadable("File name too long")) { _ = try OpenedFile(name) }
    }

    @Test("A folder that does not exist is an error")
    func noFolder() throws {
        let missing = folder.url.appendingPathComponent("nowhere")
        let issues = issuesOf(Data(#"{ "https://h/a": "a" }"#.utf8), named: "m.json", in: missing)
        #expect(issues.map(\.code) == [.missingFile])
        #expect(issues.first?.description.hasPrefix("m.json:1:1: error: the folder of the manifest's files") == true)
    }

    @Test(
        "Files with odd names are answered at their percent-encoded URLs",
        arguments: [
            ("100%.txt", "100%25.txt"), ("a b.txt", "a%20b.txt"), ("😀.txt", "%F0%9F%98%80.txt"), ("a?b#c", "a%3Fb%23c"),
            ("a+b&c=d;e.txt", "a+b&c=d;e.txt"), ("caf\u{E9}.txt", "caf%C3%A9.txt"), ("e\u{301}.txt", "%C3%A9.txt"),
            ("\"quoted\"", "%22quoted%22"), ("<b>", "%3Cb%3E"), ("a%2Fb", "a%252Fb"), ("...", "..."),
            ("caf\u{E9}/x.txt", "cafe%CC%81/x.txt"), ("\u{304C}.txt", "%E3%81%8B%E3%82%99.txt"),
            ("か\u{3099}.txt", "%E3%81%8C.txt"), ("a!\u{F1}.css", "a%21n%CC%83.css"),
            ("a:b@c", "a:b@c"), ("[x]", "%5Bx%5D"), ("~tilde", "~tilde"), ("\u{301}x.txt", "%CC%81x.txt"),
        ]
    )
    func oddNames(name: String, encoded: String) throws {
        try folder.write("odd", to: "site/odd/d/\(name)")
        if !name.hasPrefix(".") {
            #expect(try answer(#"{ "https://h/": "odd/" }"#, "https://h/d/\(encoded)") == "odd")
        }
        let manifest = String(decoding: try JSONEncoder().encode(["https://h/x": "odd/d/\(name)"]), as: UTF8.self)
        #expect(try answer(manifest, "https://h/x") == "odd")
    }

    // APFS treats the two Unicode forms of a name as one name.
    @Test("A name is found in either Unicode form, and the exact one wins", Platform.measuredOnLinux)
    func unicodeForms() throws {
        try folder.write("decomposed", to: "site/e\u{301}.txt")
        #expect(try answer("{ \"https://h/x\": \"\u{E9}.txt\" }", "https://h/x") == "decomposed")
        try folder.write("composed", to: "site/\u{E9}.txt")
        // On a file system that treats both Unicode forms as one name, the folder now has one file.
        let count = try FileManager.default.contentsOfDirectory(atPath: site.path).count { $0.hasSuffix("\u{E9}.txt") }
        try #require(count == 2)
        let both = "{ \"https://h/1\": \"\u{E9}.txt\", \"https://h/2\": \"e\u{301}.txt\" }"
        #expect(try ["1", "2"].map { try answer(both, "https://h/\($0)") } == ["composed", "decomposed"])
        #expect(issues(#"{ "https://h/": "./" }"#).map(\.code) == [.duplicateKey])
    }

    // APFS treats the two Unicode forms of a name as one name.
    @Test("A link to a folder with an equivalent Unicode name leads out of the folder", Platform.measuredOnLinux)
    func equivalentFolders() throws {
        for name in ["\u{E9}", "e\u{301}"] { try folder.write("x", to: "\(name)/a.txt") }
        let root = folder.url.appendingPathComponent("\u{E9}")
        try FileManager.default.createSymbolicLink(atPath: root.path + "/link", withDestinationPath: "../e\u{301}")
        let issues = issuesOf(Data(#"{ "https://h/a": "link/a.txt" }"#.utf8), named: "m.json", in: root)
        #expect(issues.first?.code == .outsideFolder)
    }

    @Test("A path or a folder that is nested too deep is an error, on a small stack too")
    func tooDeep() async throws {
        let path = String(repeating: "a/", count: 40_000) + "x"
        #expect(issues("{ \"https://h/a\": \"\(path)\" }").map(\.code) == [.badPath])
        var descriptor = open(site.path, O_RDONLY)
        for _ in 0..<1500 {
            #expect(mkdirat(descriptor, "d", 0o700) == 0)
            let next = openat(descriptor, "d", O_RDONLY)
            close(descriptor)
            descriptor = next
        }
        close(descriptor)
        let site = site
        let issues = try await onThread(stackSize: 512 * 1024) {
            issuesOf(Data(#"{ "https://h/": "./" }"#.utf8), named: "m.json", in: site)
        }
        #expect(issues.map(\.code) == [.endlessFolder])
    }

    @Test("A file dated after the year 2262 is answered")
    func farFuture() throws {
        let moment = timespec(tv_sec: 13_569_465_600, tv_nsec: 0)
        try #require(utimensat(AT_FDCWD, site.appendingPathComponent("real.txt").path, [moment, moment], 0) == 0)
        #expect(try answer(#"{ "https://h/a": "real.txt" }"#, "https://h/a") == "inside")
    }

    @Test("A file whose name is not UTF-8 is an error of its folder")
    func notUTF8() throws {
        let path = (Array(site.path.utf8) + [UInt8(ascii: "/"), 0xFF, 0]).map(CChar.init(bitPattern:))
        let descriptor = open(path, O_CREAT | O_WRONLY, 0o600)
        // Apple's file systems refuse names that are not UTF-8.
        guard descriptor >= 0 else { return }
        close(descriptor)
        let issues = issues(#"{ "https://h/": "./" }"#)
        #expect(issues.map(\.code) == [.unreadableFile])
        #expect(issues.first?.message.hasSuffix("cannot be read: its name is not UTF-8") == true)
    }
}

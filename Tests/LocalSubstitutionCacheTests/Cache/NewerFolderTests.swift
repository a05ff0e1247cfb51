import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

@Suite("The newest folder answers")
struct NewerFolderTests {
    private let site: TwoFolders

    init() throws { site = try TwoFolders() }

    private func answers(_ cache: SubstitutionCache) -> Set<String> { TwoFolders.answers(cache) }

    @Test(
        "The folder answers only if its number is higher, so an app update is not hidden",
        arguments: [
            ("12", "13", "download"), ("12", "12", "bundle"), ("12", "11", "bundle"), ("12", nil, "bundle"),
            (nil, "1", "download"), (nil, "0", "bundle"), (nil, nil, "bundle"),
            ("9007199254740990", "9007199254740991", "download"),
            ("2", "10", "download"), ("12", "1.3e1", "download"),
        ] as [(String?, String?, String)]
    )
    func newest(bundle: String?, download: String?, answer: String) throws {
        try site.writeBundle(version: bundle)
        try site.writeDownloads(version: download)
        for reading in [ReadingMode.mapped, .copied] {
            let cache = try site.cache(reading: reading)
            #expect(answers(cache) == [answer])
            #expect(cache.manifestVersion == Int(Double((answer == "bundle" ? bundle : download) ?? "0") ?? -1))
            #expect(cache.newerFolderError == nil)
        }
    }

    @Test("Neither a folder that does not exist nor a link to nothing is an error")
    func missing() throws {
        try site.writeBundle(version: "12")
        #expect(try site.cache().newerFolderError == nil)
        try site.writeDownloads(version: "13")
        #expect(try SubstitutionCache(manifest: site.manifest).manifestVersion == 13)
        #expect(rename(site.downloads.path, site.downloads.path + "-moved") == 0)
        #expect(symlink("nothing", site.downloads.path) == 0)
        let cache = try site.cache()
        #expect(cache.newerFolderError == nil)
        #expect(answers(cache) == ["bundle"])
    }

    /// A way to spoil the folder, and the code of the error.
    enum Spoiling: String, CaseIterable {
        case noManifest, syntax, missingFile, linkOut, linkedManifest, hugeManifest, page, pageAsJSON, plainFile, empty

        var code: ManifestIssue.Code {
            switch self {
            case .noManifest, .hugeManifest, .plainFile, .empty: .unreadableManifest
            case .syntax: .syntax
            case .missingFile: .missingFile
            case .linkOut: .outsideFolder
            case .linkedManifest: .unreadableFile
            case .page, .pageAsJSON: .wrongContent
            }
        }

        func spoil(_ site: TwoFolders) throws {
            let (folder, manifest) = (site.downloads.path, site.manifest.path)
            func write(_ text: String, to name: String) throws {
                try site.folder.write(text, to: "Application Support/downloads/\(name)")
            }
            switch self {
            case .noManifest: #expect(unlink(manifest) == 0)
            case .syntax: try write("{ \"$version\": 13, ", to: "manifest.json")
            case .missingFile: try write("{ \"$version\": 13, \"https://h/\": \"gone.html\" }", to: "manifest.json")
            case .linkOut: #expect(symlink("/etc/passwd", "\(folder)/passwd") == 0)
            case .linkedManifest:
                #expect(unlink(manifest) == 0)
                try write("{ \"$version\": 13, \"https://h/\": \"a.css\" }", to: "../other.json")
                #expect(symlink("../other.json", manifest) == 0)
            case .hugeManifest:
                try write("{ \"$version\": 13 }" + String(repeating: " ", count: 16_000_000), to: "manifest.json")
            case .page: try write("\u{FEFF}\n <!DOCTYPE HTML><title>Sign in</title>", to: "b.js")
            case .pageAsJSON: try write("<html><title>Not found</title></html>", to: "data.json")
            case .plainFile, .empty:
                try FileManager.default.removeItem(at: site.downloads)
                if self == .empty {
                    #expect(mkdir(folder, 0o700) == 0)
                } else {
                    try site.folder.write("{ \"$version\": 13 }", to: "Application Support/downloads")
                }
            }
        }
    }

    @Test(
        "A folder with any error never stops a launch: the bundle answers, and the cache has the reason",
        arguments: Spoiling.allCases
    )
    func passedOver(spoiling: Spoiling) throws {
        try site.writeBundle(version: "12")
        try site.writeDownloads(version: "13")
        #expect(answers(try site.cache()) == ["download"])
        try spoiling.spoil(site)
        let cache = try site.cache()
        #expect(answers(cache) == ["bundle"])
        #expect(cache.manifestVersion == 12)
        #expect(cache.newerFolderError?.issues.map(\.code) == [spoiling.code])
        #expect(cache.newerFolderError?.description.hasPrefix(site.manifest.path) == true)
        // The same choice is made while the app runs.
        try site.writeBundle("update", version: "12")
        try cache.reload()
        #expect(answers(cache) == ["update"])
        #expect(cache.newerFolderError != nil)
        try? FileManager.default.removeItem(at: site.downloads)
        try site.writeDownloads(version: "14")
        try cache.reload()
        #expect(answers(cache) == ["download"])
        #expect(cache.newerFolderError == nil)
    }

    @Test("Files of more than 100 MB are mapped or passed over, not copied")
    func large() throws {
        try site.writeBundle(version: "12")
        try site.writeDownloads(version: "13")
        // Two entries may have one file.
        let text = "{ \"$version\": 13, \"https://example.com/\": \"./\", \"https://h/\": \"large.bin\" }"
        try site.folder.write(text, to: "Application Support/downloads/manifest.json")
        try site.folder.write("", to: "Application Support/downloads/large.bin")
        for (size, version) in [(99_000_000, 13), (100_000_001, 12)] {
            #expect(truncate(site.downloads.path + "/large.bin", size) == 0)
            let cache = try site.cache()
            #expect(cache.manifestVersion == version)
            #expect(cache.newerFolderError?.issues.map(\.code) == (version == 13 ? nil : [.tooLong]))
        }
        #expect(try site.cache(reading: .mapped).manifestVersion == 13)
    }

    @Test("Of mapped files, those that are read all the same count, too: small ones, and those beyond the mappings")
    func readThoughMapped() throws {
        try site.writeBundle(version: "12")
        let folder = try site.writeDownloads(version: "13")
        let small = FileContents.mappingThreshold - 1
        #expect(truncate(folder.path + "/a.css", small) == 0)
        let manifest = try ManifestSource(candidate: folder, reading: .mapped).manifest()
        func isRefused(_ bytes: Int, maximumMappings: Int) throws -> Bool {
            let resolved = try manifest.resolved(in: folder)
            let budget = LoadBudget([.copies: bytes])
            do throws(ManifestError) {
                return try resolved.contents(.mapped, budget, maximumMappings: maximumMappings).isEmpty
            } catch {
                #expect(error.issues.map(\.code) == [.tooLong], "\(error)")
                return true
            }
        }
        // Only large.txt can be mapped.
        let bytes = small + "download".utf8.count
        #expect(try !isRefused(bytes, maximumMappings: 1))
        #expect(try isRefused(bytes - 1, maximumMappings: 1))
        #expect(try isRefused(bytes, maximumMappings: 0))
        // One file may have many names, and each name is read.
        for number in 0..<100_000_000 / small {
            #expect(link(folder.path + "/a.css", folder.path + "/\(number).css") == 0)
        }
        #expect(try site.cache(reading: .mapped).newerFolderError?.issues.map(\.code) == [.tooLong])
    }

    @Test("A page of HTML may be a page, and an SVG image may have a document type")
    func pages() throws {
        try site.writeBundle(version: "12")
        try site.writeDownloads(version: "13")
        let texts = [("index.html", "<!doctype html>"), ("page.txt", "<html>"), ("a.svg", "<!DOCTYPE svg><svg/>")]
        for (name, text) in texts { try site.folder.write(text, to: "Application Support/downloads/\(name)") }
        #expect(try site.cache().newerFolderError == nil)
    }

    @Test("A folder without a file URL is passed over")
    func remote() throws {
        try site.writeBundle(version: "12")
        let bundle = try #require(Bundle(url: site.folder.url.appendingPathComponent("App.bundle")))
        let url = try #require(URL(string: "https://example.com/downloads"))
        let cache = try SubstitutionCache(bundle: bundle, newerFolder: url)
        #expect(cache.newerFolderError?.description.contains("is not a file URL") == true)
        #expect(answers(cache) == ["bundle"])
    }

    @Test("An error in the bundle is thrown, whatever the folder holds, and keeps the table on a reload")
    func bundleError() throws {
        try site.writeBundle(version: "12")
        try site.writeDownloads(version: "13")
        let cache = try site.cache()
        try site.folder.write("{ \"https://h/\": \"gone.html\" }", to: "App.bundle/Substitutions/manifest.json")
        try site.writeDownloads("newest", version: "14")
        #expect(throws: ManifestError.self) { try site.cache() }
        #expect(throws: ManifestError.self) { try cache.reload() }
        #expect(answers(cache) == ["download"])
        #expect(cache.manifestVersion == 13)
    }

    @Test("A file that changes while the folder is read makes it no set")
    func changedWhileRead() throws {
        let folder = try site.writeDownloads(version: "13")
        let manifest = try ManifestSource(file: site.manifest, folder: folder, reading: .copied).manifest()
        let resolved = try manifest.resolved(in: folder)
        let contents = try resolved.contents(.copied)
        try resolved.check(contents)
        try site.folder.write("longer than before", to: "Application Support/downloads/a.css")
        let changed = try #require(throws: ManifestError.self) { try resolved.check(contents) }
        #expect(
            changed.description.contains("\"a.css\", or a folder on its path, was replaced while it was being read")
        )
        try site.writeDownloads("other", version: "14")
        let other = try #require(throws: ManifestError.self) { try resolved.check(contents) }
        #expect(other.description.contains("\"manifest.json\", or a folder on its path, was replaced"))
    }

    @Test("While another thread writes the folder's files in place, a launch is never stopped")
    func writtenInPlace() async throws {
        try site.writeBundle(version: "12")
        try site.writeDownloads("one", version: "13")
        let isDone = Locked(false)
        let count = Locked(13)
        async let writing: Void = onThread { [site] in
            repeat {
                let number = count.value + 1
                try site.writeDownloads(number % 2 == 0 ? "two" : "three", version: "\(number)")
                count.withLock { $0 = number }
            } while !isDone.value
        }
        defer { isDone.withLock { $0 = true } }
        let versions = try await onThread { [site] in
            var answers: Set<Set<String>> = []
            while count.value < (Program.isLongRun ? 10_000 : 200) {
                let cache = try site.cache()
                if cache.manifestVersion == 12 { answers.insert(TwoFolders.answers(cache)) }
            }
            return answers
        }
        isDone.withLock { $0 = true }
        try await writing
        #expect(versions.isSubset(of: [["bundle"]]))
    }
}

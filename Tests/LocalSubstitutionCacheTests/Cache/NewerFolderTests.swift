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
            ("12", "13", "download"), ("12", "12", "bundle"), ("12", nil, "bundle"), (nil, "1", "download"),
            (nil, nil, "bundle"), ("9007199254740990", "9007199254740991", "download"), ("2", "1.0e1", "download"),
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

    @Test("A folder with any error never stops a launch: the bundle answers, and the cache has the reason")
    func passedOver() throws {
        let (manifest, start) = ("downloads/manifest.json", "{ \"$version\": 13")
        // What lies at the path is replaced with a file, with a link, or with nothing.
        let spoiled: [(String, String?, String?, ManifestIssue.Code)] = [
            (manifest, nil, nil, .unreadableManifest), (manifest, "\(start), ", nil, .syntax),
            (manifest, "\(start), \"https://h/\": \"gone.html\" }", nil, .missingFile),
            (manifest, "\(start) }" + String(repeating: " ", count: 16_000_000), nil, .unreadableManifest),
            (manifest, nil, "../other.json", .unreadableFile), ("downloads/x", nil, "/etc/passwd", .outsideFolder),
            ("downloads/b.js", "\u{FEFF}\n <!DOCTYPE HTML><title>Sign in</title>", nil, .wrongContent),
            ("downloads/a.woff2", "<!doctype html>", nil, .wrongContent),
            ("downloads/data.json", "<html><title>Not found</title></html>", nil, .wrongContent),
            ("downloads", "\(start) }", nil, .unreadableManifest),
        ]
        for (path, text, target, code) in spoiled { try expectBundle(path, text, target, code) }
    }

    private func expectBundle(_ path: String, _ text: String?, _ target: String?, _ code: ManifestIssue.Code) throws {
        let site = try TwoFolders()
        try site.writeBundle(version: "12")
        try site.writeDownloads(version: "13")
        try site.folder.write("{ \"$version\": 13, \"https://h/\": \"a.css\" }", to: "Application Support/other.json")
        #expect(answers(try site.cache()) == ["download"])
        let place = site.folder.url.appendingPathComponent("Application Support/\(path)")
        try? FileManager.default.removeItem(at: place)
        if let text { try Data(text.utf8).write(to: place) }
        if let target { #expect(symlink(target, place.path) == 0) }
        let cache = try site.cache()
        #expect(answers(cache) == ["bundle"])
        #expect(cache.newerFolderError?.issues.map(\.code) == [code] && cache.manifestVersion == 12, "\(path)")
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
            let (resolved, budget) = (try manifest.resolved(in: folder), LoadBudget([.copies: bytes]))
            do throws(ManifestError) {
                return try resolved.contents(.mapped, budget, maximumMappings: maximumMappings).isEmpty
            } catch {
                #expect(error.issues.map(\.code) == [.tooLong], "\(error)")
                return true
            }
        }
        // Only large.txt can be mapped.
        let bytes = small + "download".utf8.count
        #expect(try !isRefused(bytes, maximumMappings: 1) && isRefused(bytes - 1, maximumMappings: 1))
        #expect(try isRefused(bytes, maximumMappings: 0))
        // One file may have many names, and each name is read.
        #expect(link(folder.path + "/a.css", folder.path + "/c.css") == 0)
        #expect(try isRefused(bytes + small - 1, maximumMappings: 1))
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
        #expect(changed.description.contains("\"a.css\", or a folder on its path, was replaced while it was being"))
        try site.writeDownloads("other", version: "14")
        let other = try #require(throws: ManifestError.self) { try resolved.check(contents) }
        #expect(other.description.contains("\"manifest.json\", or a folder on its path, was replaced"))
    }
}

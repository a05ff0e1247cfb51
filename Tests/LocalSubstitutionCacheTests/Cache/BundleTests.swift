import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

@Suite("The search for the manifest")
final class BundleTests: CacheSuite {
    @Test("A localised Substitutions folder is found, with the files beside it")
    func localisedBundle() throws {
        for (path, text) in [("xx.lproj/", "nobody's language"), ("en.lproj/", "English")] {
            let substitutions = "L.bundle/\(path)Substitutions/"
            try folder.write(#"{ "https://example.com/a": "a.txt" }"#, to: substitutions + "manifest.json")
            try folder.write(text, to: substitutions + "a.txt")
        }
        let bundle = try #require(Bundle(url: folder.url.appendingPathComponent("L.bundle")))
        let cache = try SubstitutionCache(bundle: bundle)
        #expect(try cache.cachedResponse(for: request("https://example.com/a"))?.data == Data("English".utf8))
    }

    @Test("A bundle without the folder, or with a flattened one, is an error that says what to do")
    func bundleWithout() throws {
        try folder.write("x", to: "Empty.bundle/x.txt")
        try folder.write("{}", to: "Group.bundle/manifest.json")
        let empty = try #require(Bundle(url: folder.url.appendingPathComponent("Empty.bundle")))
        let group = try #require(Bundle(url: folder.url.appendingPathComponent("Group.bundle")))
        let missing = try #require(throws: ManifestError.self) { try SubstitutionCache(bundle: empty) }
        let start = "Empty.bundle/Substitutions/manifest.json:1:1: error:"
        #expect(missing.description.contains(start) && missing.description.contains(".module"))
        let flat = try #require(throws: ManifestError.self) { try SubstitutionCache(bundle: group) }
        #expect(flat.description.contains("Build Folder Contents") && flat.description.contains("flattened"))
        #expect([missing, flat].flatMap { $0.issues.map(\.code) } == [.unreadableManifest, .unreadableManifest])
    }

    @Test("A manifest that is missing, a folder or a FIFO is an error, and does not block")
    func unreadable() throws {
        try folder.write("x", to: "folder/x")
        #expect(mkfifo(folder.url.appendingPathComponent("fifo").path, 0o600) == 0)
        for name in ["none.json", "folder", "fifo"] {
            let error = try #require(throws: ManifestError.self) {
                try SubstitutionCache(manifest: folder.url.appendingPathComponent(name))
            }
            #expect(error.issues.map(\.code) == [.unreadableManifest])
        }
    }
}

import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import TestSupport
import Testing

@Suite("Manifest issues in an app under development")
struct AdviceTests {
    private let folder: TemporaryFolder
    private var manifest: URL { folder.url.appendingPathComponent("manifest.json") }

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("a", to: "img/logo.png")
        try folder.write(#"{ "https://h/a": "img/logo.pgn", }"#, to: "manifest.json")
    }

    @Test("A manifest without errors gets its warnings")
    func warnings() throws {
        try folder.write("{}", to: "manifest.json")
        let issues = try ManifestIssue.all(in: manifest)
        #expect(issues.map(\.code.rawValue) == ["unused-file"])
        #expect(issues.map(\.severity) == [.warning])
    }

    @Test("Reloading reports the issues that the tool prints; the initialiser reports the first mistake")
    func reports() async throws {
        let error = #expect(throws: ManifestError.self) { try SubstitutionCache(manifest: manifest) }
        #expect(error?.issues.map(\.code.rawValue) == ["syntax"])
        try folder.write(#"{ "https://h/a": "img/logo.png" }"#, to: "manifest.json")
        let cache = try SubstitutionCache(manifest: manifest, reading: .copied)
        try folder.write(#"{ "https://h/a": "img/logo.pgn", }"#, to: "manifest.json")
        let reported = AsyncStream<Result<[String], ManifestError>> { continuation in
            do { try cache.reloadWhenChanged { continuation.yield($0) } } catch { Issue.record("\(error)") }
        }
        for await case .failure(let error) in reported {
            #expect(error.issues.count == 2)
            #expect(error.description.contains("did you mean \"img/logo.png\"?"))
            break
        }
        withExtendedLifetime(cache) {}
    }
}

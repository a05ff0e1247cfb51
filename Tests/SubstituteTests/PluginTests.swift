// iOS and its relatives start no processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

/// An app of its own that depends on this package by path and ships a manifest.
@Suite("The plugins")
struct PluginTests {
    private let app: TemporaryFolder

    init() throws {
        app = try TemporaryFolder()
        let package = Tool.package.lastPathComponent
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "App",
                platforms: [.macOS(.v13)],
                dependencies: [.package(path: "\(Tool.package.path)")],
                targets: [
                    .target(
                        name: "App",
                        resources: [.copy("Substitutions")],
                        plugins: [.plugin(name: "CheckManifest", package: "\(package)")]
                    )
                ]
            )
            """
        try app.write(manifest, to: "Package.swift")
        try app.write("", to: "Sources/App/App.swift")
        try app.write("{\n  \"https://h/a.png\": \"img/a.png\"\n}\n", to: "Sources/App/Substitutions/manifest.json")
        try app.write("picture", to: "Sources/App/Substitutions/img/a.png")
    }

    private func swift(_ arguments: [String]) async throws -> (status: Int32, output: String) {
        let swift = try #require(Program.find("swift"))
        let result = try await Tool.run(swift, arguments, in: app.url)
        return (result.status, result.output + result.errors)
    }

    @Test("A build checks the manifest, fails at its line, and checks again when only an image was mended")
    func build() async throws {
        let first = try await swift(["build"])
        #expect(first.status == 0, "\(first.output)")
        #expect(first.output.contains("Checking manifest.json of Substitutions"))
        #expect(!first.output.contains("warning:"))

        // The package manager links its tools once more the second time.
        _ = try await swift(["build"])
        let second = try await swift(["build"])
        #expect(second.status == 0)
        #expect(!second.output.contains("Checking manifest.json"), "nothing has changed")

        // Wrong by its case, which is mended in the folder and not in the manifest.
        let image = app.url.appendingPathComponent("Sources/App/Substitutions/img/a.png")
        let misspelled = image.deletingLastPathComponent().appendingPathComponent("A.png")
        try FileManager.default.moveItem(at: image, to: misspelled)
        let third = try await swift(["build"])
        #expect(third.status != 0)
        #expect(
            third.output.contains("/Substitutions/manifest.json:2:22: error: \"img/a.png\" is \"img/A.png\" on disk")
        )

        try FileManager.default.moveItem(at: misspelled, to: image)
        let fourth = try await swift(["build"])
        #expect(fourth.status == 0, "\(fourth.output)")
        #expect(fourth.output.contains("Checking manifest.json"))

        let command = try await swift(["package", "substitute", "check", "Sources/App/Substitutions/manifest.json"])
        #expect(command.output.contains("1 entry, 1 file, 7 bytes, 0 errors, 0 warnings"))
        #expect(command.status == 0)
        let wrong = try await swift(["package", "substitute", "check", "none.json"])
        #expect(wrong.output.contains("none.json:1:1: error: \"none.json\" does not exist"))
        #expect(wrong.status != 0)
    }
}
#endif

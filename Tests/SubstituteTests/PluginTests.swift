// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

/// Tests of the plugins with a separate app that contains a manifest and depends on this package by path.
///
/// All layouts are built one after the other in one folder, because a build in a new folder would compile the library
/// again.
@Suite("The plugins", .serialized, .startsPackageManager)
struct PluginTests {
    private let app: TemporaryFolder

    private static let picture = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
    private static let manifest = """
        {
          "https://h/a.png": "img/a.png",
          "$schema": "../../../manifest.schema.json"
        }

        """
    private static let folder = "Sources/App/Substitutions"

    init() throws {
        app = try TemporaryFolder()
        // The checkout's folder may have any name, because the app's `Package.swift` states the package's name.
        try FileManager.default.createSymbolicLink(
            atPath: app.url.appendingPathComponent("Fork").path,
            withDestinationPath: Repository.folder.path
        )
        try declare(".copy(\"Substitutions\")")
        try app.write("{}", to: "manifest.schema.json")
        try app.write("", to: "Sources/App/App.swift")
        try app.write(Self.manifest, to: "\(Self.folder)/manifest.json")
        try app.write(Self.picture, to: "\(Self.folder)/img/a.png")
    }

    /// Writes the app's `Package.swift`.
    private func declare(_ resource: String) throws {
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "App",
                platforms: [.macOS(.v13)],
                dependencies: [.package(name: "LocalSubstitutionCache", path: "Fork")],
                targets: [
                    .target(
                        name: "App",
                        dependencies: [.product(name: "LocalSubstitutionCache", package: "LocalSubstitutionCache")],
                        resources: [\(resource)],
                        plugins: [.plugin(name: "CheckManifest", package: "LocalSubstitutionCache")]
                    )
                ]
            )
            """
        try app.write(manifest, to: "Package.swift")
    }

    private func swift(_ arguments: [String], in folder: String = ".") async throws -> (status: Int32, output: String) {
        let swift = try #require(Program.find("swift"))
        let result = try await Program.run(swift, arguments, in: app.url.appendingPathComponent(folder))
        return (result.status, result.output + result.errors)
    }

    private func move(_ path: String, to other: String) throws {
        let (source, target) = (app.url.appendingPathComponent(path), app.url.appendingPathComponent(other))
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try FileManager.default.moveItem(at: source, to: target)
    }

    /// Builds twice.
    ///
    /// In these two builds the package manager may link its tools again. In later builds it does not.
    private func settle() async throws {
        _ = try await swift(["build"])
        _ = try await swift(["build"])
    }

    @Test("A build checks the manifest in every layout, and reports a layout that it cannot check")
    func layouts() async throws {
        try await checkedOnce()
        try await checkedAsByAnApp()
        try await begun()
        try await layoutsThatCannotWork()
        try await layoutsThatWork()
        try await commands()
    }

    private func checkedOnce() async throws {
        let first = try await swift(["build"])
        #expect(first.status == 0, "\(first.output)")
        #expect(first.output.contains("Checking manifest.json of Substitutions"))
        #expect(!first.output.contains("warning:"), "\(first.output)")
        try await settle()
        let second = try await swift(["build"])
        #expect(second.status == 0)
        #expect(!second.output.contains("Checking manifest.json"), "nothing has changed")

        // The case of the file's name is wrong. The test later corrects the name on disk, not the manifest.
        try move("\(Self.folder)/img/a.png", to: "\(Self.folder)/img/A.png")
        let third = try await swift(["build"])
        #expect(third.status != 0)
        let message = "/Substitutions/manifest.json:2:22: error: \"img/a.png\" is \"img/A.png\" on disk"
        #expect(third.output.contains(message), "\(third.output)")
        try move("\(Self.folder)/img/A.png", to: "\(Self.folder)/img/a.png")
        let fourth = try await swift(["build"])
        #expect(fourth.status == 0, "\(fourth.output)")
        #expect(fourth.output.contains("Checking manifest.json"))
    }

    /// Checks that a build says no more than an app: warnings are for the tool, and a mistake in JSON ends the check.
    private func checkedAsByAnApp() async throws {
        try app.write("no picture", to: "\(Self.folder)/img/a.png")
        let build = try await swift(["build"])
        #expect(build.status == 0 && !build.output.contains("warning:"), "\(build.output)")
        try app.write(Self.picture, to: "\(Self.folder)/img/a.png")
        try app.write("{ \"name\": \"a web app\" }", to: "Sources/App/www/manifest.json")
        try declare(".copy(\"Substitutions\"), .copy(\"www\")")
        #expect(try await swift(["build"]).status == 0)
        try declare(".copy(\"Substitutions\")")
        try FileManager.default.removeItem(at: app.url.appendingPathComponent("Sources/App/www"))
        try app.write("{ 1, 2 }", to: "\(Self.folder)/manifest.json")
        let broken = try await swift(["build"])
        #expect(broken.status != 0 && broken.output.components(separatedBy: ": error: ").count == 2, "\(broken.output)")
        #expect(broken.output.contains("manifest.json:1:1: note: substitute check (or swift package"))
        try app.write(Self.manifest, to: "\(Self.folder)/manifest.json")
    }

    /// Runs the README's first command, before there is a manifest.
    private func begun() async throws {
        try move(Self.folder, to: "Aside")
        let permissions = ["--allow-writing-to-package-directory", "--allow-network-connections", "all"]
        let made = try await swift(["package"] + permissions + ["substitute-edit", "init"])
        #expect(made.status == 0, "\(made.output)")
        #expect(made.output.contains("Created Sources/App/Substitutions/manifest.json"))
        let build = try await swift(["build"])
        #expect(build.status == 0, "\(build.output)")
        #expect(
            build.output.contains("Checking manifest.json") && !build.output.contains("warning:"),
            "\(build.output)"
        )
        try FileManager.default.removeItem(at: app.url.appendingPathComponent(Self.folder))
        try move("Aside", to: Self.folder)
    }

    private func layoutsThatCannotWork() async throws {
        func problem() async throws -> String {
            let build = try await swift(["build"])
            #expect(build.status != 0, "\(build.output)")
            return build.output.split(separator: "\n").first { $0.hasPrefix("error: ") }.map(String.init)
                ?? build.output
        }
        try declare(".process(\"Substitutions\")")
        #expect(try await problem().contains("Substitutions is flattened when it is copied"))
        try declare("")
        #expect(try await problem().hasSuffix("declare it with resources: [.copy(\"Substitutions\")]"))
        try declare(".copy(\"Substitutions\")")
        try move("\(Self.folder)/manifest.json", to: "\(Self.folder)/Manifest.json")
        #expect(try await problem().hasSuffix("Substitutions has no manifest.json; rename Manifest.json"))
        try move("\(Self.folder)/Manifest.json", to: "\(Self.folder)/img/manifest.json")
        let remedy = "swift package substitute-edit init creates one"
        #expect(try await problem().hasSuffix("Substitutions has no manifest.json; \(remedy)"))
        try move("\(Self.folder)/img/manifest.json", to: "\(Self.folder)/manifest.json")
        try move(Self.folder, to: "Substitutions")
        try declare("")
        #expect(try await problem().contains("the target App ships no folder with a manifest.json"))
        try move("Substitutions", to: Self.folder)
        try declare(".copy(\"Substitutions\")")
    }

    private func layoutsThatWork() async throws {
        for (place, resource) in [
            ("Sources/App/Resources/Substitutions", ".copy(\"Resources/Substitutions\")"),
            ("Resources/Substitutions", ".copy(\"../../Resources/Substitutions\")"),
        ] {
            try move(Self.folder, to: place)
            try declare(resource)
            let build = try await swift(["build"])
            #expect(build.status == 0, "\(build.output)")
            #expect(build.output.contains("Checking manifest.json of Substitutions"))
            #expect(!build.output.contains("warning:"), "\(build.output)")
            try move(place, to: Self.folder)
        }
    }

    /// Runs the README's commands in several current folders.
    private func commands() async throws {
        for folder in [".", "\(Self.folder)/img"] {
            let check = try await swift(["package", "substitute", "check"], in: folder)
            #expect(check.output.contains("1 URL, 1 file, 8 bytes: 1 image\nno errors, no warnings"), "\(check.output)")
            #expect(check.status == 0)
        }
        let wrong = try await swift(["package", "substitute", "check", "none.json"])
        #expect(wrong.output.contains("none.json:1:1: error: \"none.json\" does not exist"))
        #expect(wrong.status != 0)
    }
}
#endif

// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

/// Tests of the plugins with a separate app that contains a manifest and depends on this package by path.
///
/// All layouts are built one after the other in one build folder, which `Tests/Documents/run` uses, too: a build in a
/// new folder would compile the library and the tool again.
@Suite("The plugins", .serialized, .startsPackageManager)
struct PluginTests {
    private let app: TemporaryFolder
    /// The open file whose lock `Tests/Documents/run` waits for.
    private let turn: FileHandle

    private static let picture = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
    private static let manifest = """
        {
          "https://h/a.png": "img/a.png",
          "$schema": "../../../manifest.schema.json"
        }

        """
    private static let folder = "Sources/App/Substitutions"
    private static let apps = Repository.folder.appendingPathComponent(".build/apps")
    // The checkout's folder may have any name, because the app's `Package.swift` states the package's name.
    private static let fork = apps.appendingPathComponent("Fork")

    init() async throws {
        app = try TemporaryFolder()
        try FileManager.default.createDirectory(at: Self.apps, withIntermediateDirectories: true)
        try? FileManager.default.createSymbolicLink(at: Self.fork, withDestinationURL: Repository.folder)
        let lock = open(Self.apps.appendingPathComponent("lock").path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        turn = FileHandle(fileDescriptor: lock, closeOnDealloc: true)
        try await onThread { try #require(flock(lock, LOCK_EX) == 0) }
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

            let library = "LocalSubstitutionCache"
            let package = Package(
                name: "App", platforms: [.macOS(.v13)],
                dependencies: [.package(name: library, path: "\(Self.fork.path)")],
                targets: [
                    .target(
                        name: "App", dependencies: [.product(name: library, package: library)],
                        resources: [\(resource)], plugins: [.plugin(name: "CheckManifest", package: library)]
                    )
                ]
            )
            """
        try app.write(manifest, to: "Package.swift")
    }

    private func swift(_ arguments: [String], in folder: String = ".") async throws -> (status: Int32, output: String) {
        let swift = try #require(Program.find("swift"))
        let place = app.url.appendingPathComponent(folder)
        let build = ["SWIFTPM_BUILD_DIR": Self.apps.appendingPathComponent("build").path]
        var result = try await Program.run(swift, arguments, in: place, environment: build)
        // The package manager crashes rarely: https://github.com/swiftlang/swift-corelibs-libdispatch/issues/949
        if result.errors.contains("_dispatch_event_loop_drain"), result.errors.contains("Thread 0 \"swift-package\"") {
            result = try await Program.run(swift, arguments, in: place, environment: build)
        }
        return (result.status, result.output + result.errors)
    }

    /// Builds, and expects success or failure, with an output that has some texts and lacks another.
    private func build(fails: Bool = false, has texts: [String] = [], lacks other: String = "warning:") async throws {
        let result = try await swift(["build"])
        #expect((result.status != 0) == fails && texts.allSatisfy(result.output.contains), "\(result.output)")
        #expect(!result.output.contains(other), "\(result.output)")
    }

    private func move(_ path: String, to other: String) throws {
        let (source, target) = (app.url.appendingPathComponent(path), app.url.appendingPathComponent(other))
        let parent = target.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        try FileManager.default.moveItem(at: source, to: target)
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
        try await build(has: ["Checking manifest.json of Substitutions"])
        // In these two builds the package manager may link its tools again. In later builds it does not.
        for _ in 1...2 { _ = try await swift(["build"]) }
        // Nothing has changed.
        try await build(lacks: "Checking manifest.json")
        // The case of the file's name is wrong. The test later corrects the name on disk, not the manifest.
        try move("\(Self.folder)/img/a.png", to: "\(Self.folder)/img/A.png")
        let message = "/Substitutions/manifest.json:2:22: error: \"img/a.png\" is \"img/A.png\" on disk"
        try await build(fails: true, has: [message], lacks: "no errors")
        try move("\(Self.folder)/img/A.png", to: "\(Self.folder)/img/a.png")
        try await build(has: ["Checking manifest.json"])
    }

    /// Checks that a build says no more than an app: warnings are for the tool, and a mistake in JSON ends the check.
    private func checkedAsByAnApp() async throws {
        try app.write("no picture", to: "\(Self.folder)/img/a.png")
        try await build()
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
        #expect(made.status == 0 && made.output.contains("Created Sources/App/Substitutions/manifest.json"), "\(made)")
        try await build(has: ["Checking manifest.json"])
        try FileManager.default.removeItem(at: app.url.appendingPathComponent(Self.folder))
        try move("Aside", to: Self.folder)
    }

    private func layoutsThatCannotWork() async throws {
        let (manifest, copy) = ("\(Self.folder)/manifest.json", ".copy(\"Substitutions\")")
        let missing = "Substitutions has no manifest.json; "
        for (resource, from, to, message) in [
            (".process(\"Substitutions\")", nil, "", "Substitutions is flattened when it is copied"),
            ("", nil, "", "declare it with resources: [.copy(\"Substitutions\")]"),
            (copy, manifest, "\(Self.folder)/Manifest.json", "\(missing)rename Manifest.json"),
            (copy, manifest, "\(Self.folder)/img/manifest.json", "\(missing)swift package substitute-edit init"),
            ("", Self.folder, "Substitutions", "the target App ships no folder with a manifest.json"),
        ] as [(String, String?, String, String)] {
            try declare(resource)
            if let from { try move(from, to: to) }
            let build = try await swift(["build"])
            let problem = build.output.components(separatedBy: "\n").first { $0.hasPrefix("error: ") } ?? ""
            #expect(build.status != 0 && problem.contains(message), "\(build.output)")
            if let from { try move(to, to: from) }
        }
        try declare(copy)
    }

    private func layoutsThatWork() async throws {
        for (place, resource) in [
            ("Sources/App/Resources/Substitutions", ".copy(\"Resources/Substitutions\")"),
            ("Resources/Substitutions", ".copy(\"../../Resources/Substitutions\")"),
        ] {
            try move(Self.folder, to: place)
            try declare(resource)
            try await build(has: ["Checking manifest.json of Substitutions"])
            try move(place, to: Self.folder)
        }
    }

    /// Runs the README's commands in several current folders.
    private func commands() async throws {
        for folder in [".", "\(Self.folder)/img"] {
            let check = try await swift(["package", "substitute", "check"], in: folder)
            let lines = "1 URL, 1 file, 8 bytes: 1 image\nno errors, no warnings"
            #expect(check.status == 0 && check.output.contains(lines), "\(check.output)")
        }
        let wrong = try await swift(["package", "substitute", "check", "none.json"])
        #expect(wrong.status != 0 && wrong.output.contains("none.json:1:1: error: \"none.json\" does not exist"))
    }
}
#endif

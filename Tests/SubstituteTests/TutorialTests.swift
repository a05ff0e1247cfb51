// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("The tutorial")
struct TutorialTests {
    private static let catalog = Repository.folder
        .appendingPathComponent("Sources/LocalSubstitutionCache/LocalSubstitutionCache.docc")

    /// The files that the tutorial's steps show, in their order.
    private static func shown() throws -> [(name: String, file: URL)] {
        let text = try String(contentsOf: catalog.appendingPathComponent("FlightMode.tutorial"), encoding: .utf8)
        return text.matches(of: /@Code\(name: "([^"]+)", file: "([^"]+)"/).map { match in
            (String(match.output.1), catalog.appendingPathComponent("Resources/\(match.output.2)"))
        }
    }

    @Test("After each step, the app compiles")
    func code() async throws {
        let folder = try TemporaryFolder()
        let compiler = try #require(Program.find("swiftc"))
        let built = Tool.url.deletingLastPathComponent()
        let options = [
            "-parse-as-library", "-swift-version", "6", "-warnings-as-errors", "-I", folder.url.path,
            "-I", built.path, "-I", built.appendingPathComponent("Modules").path,
            "-module-cache-path", built.appendingPathComponent("ModuleCache").path,
        ]
        func compile(_ arguments: [String]) async throws {
            let result = try await Program.run(compiler, options + arguments, environment: folder.environment())
            #expect(result.status == 0, "\(result.errors)")
        }
        // Only Apple's platforms have SwiftUI.
        #if !canImport(SwiftUI)
        let module = folder.url.appendingPathComponent("SwiftUI.swiftmodule").path
        let fake = ["Tests/FakeSwiftUI/SwiftUI.swift", "-enable-upcoming-feature", "InternalImportsByDefault"]
        try await compile(["-module-name", "SwiftUI", "-emit-module", "-emit-module-path", module] + fake)
        #endif
        var app: [String: String] = [:]
        for (name, file) in try Self.shown() where name.hasSuffix(".swift") {
            app[name] = file.path
            try await compile(["-module-name", "FlightMode", "-typecheck"] + app.values.sorted())
        }
        #expect(app.count == 2)
    }

    @Test("The manifest has no errors and no warnings")
    func manifest() async throws {
        let folder = try TemporaryFolder()
        for (name, file) in try Self.shown() where name.hasSuffix(".json") {
            try folder.write(Data(contentsOf: file), to: name)
        }
        try folder.write("Hello", to: "Substitutions/hello.txt")
        try folder.write("<!doctype html><title>A page</title>", to: "Substitutions/example.com/index.html")
        let result = await Tool.run(["check", "--strict"], in: folder.url)
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }
}
#endif

import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

@Suite("What the tool reads in a package manifest")
struct PackageTextTests {
    private let text = PackageText(
        """
        let package = Package(
            targets: [
                .executableTarget(
                    name: "App",
                    dependencies: [.target(name: "Core"), .product(name: "A", package: "b")],
                    resources: [.copy("Substitutions"), .process("x")]
                ),
                .target(name: "Core", dependencies: ["A"]),
                // .target(name: "Old", resources: [.copy("Substitutions")]),
                .testTarget(name: "Tests", resources: [.copy("Fixtures/Substitutions")]),
            ]
        )
        """
    )

    @Test("A target ships the folders that it copies")
    func ships() {
        #expect(text.ships("Substitutions", in: "App"))
        #expect(text.ships("Fixtures/Substitutions", in: "Tests"))
        for target in ["Core", "Old", "Tests", "A", ""] { #expect(!text.ships("Substitutions", in: target)) }
        #expect(!PackageText("").ships("Substitutions", in: "App"))
    }

    @Test("A command is named as the user calls it, through the plugin or directly")
    func words() {
        #expect(ToolName([:]).words("check") == "substitute check")
        let plugin = ["SUBSTITUTE_VERB": "substitute"]
        #expect(ToolName(plugin).words("check --all") == "swift package substitute check --all")
        #expect(ToolName(plugin).words("init") == "swift package substitute-edit init")
        #expect(ToolName(plugin).words("--help") == "swift package substitute --help")
    }
}

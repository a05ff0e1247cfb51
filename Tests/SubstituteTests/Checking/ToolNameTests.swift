import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

@Suite("The name of the tool")
struct ToolNameTests {
    @Test("A command is named as the user calls it, through the plugin or directly")
    func words() {
        #expect(ToolName([:]).words("check") == "substitute check")
        let plugin = ["SUBSTITUTE_VERB": "substitute"]
        #expect(ToolName(plugin).words("check --all") == "swift package substitute check --all")
        #expect(ToolName(plugin).words("check --fix") == "swift package substitute-edit check --fix")
        #expect(ToolName(plugin).words("init") == "swift package substitute-edit init")
        #expect(ToolName(plugin).words("--help") == "swift package substitute --help")
    }
}

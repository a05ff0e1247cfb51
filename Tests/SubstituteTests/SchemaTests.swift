// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

/// Tests of `Resources/manifest.schema.json` with an independent validator.
@Suite("The JSON schema", .serialized)
struct SchemaTests {
    private static let schema = Repository.folder.appendingPathComponent("Resources/manifest.schema.json")

    private static let needsValidator = ConditionTrait.enabled("needs Python with jsonschema") {
        guard !Program.isEverythingRequired, let python = Program.find("python3") else {
            return Program.isEverythingRequired
        }
        return (try? await Program.run(python, ["-c", "import jsonschema"]).status) == 0
    }

    /// Returns the names of the files that the validator refuses.
    private func refused(_ files: [URL]) async throws -> [String] {
        let script = """
            import json, sys, jsonschema
            schema = json.load(open(sys.argv[1], encoding="utf-8"))
            jsonschema.Draft7Validator.check_schema(schema)
            validator = jsonschema.Draft7Validator(schema)
            for path in sys.argv[2:]:
                if not validator.is_valid(json.load(open(path, encoding="utf-8-sig"))):
                    print(path.rsplit("/", 1)[1])
            """
        let python = try #require(Program.find("python3"))
        let result = try await Program.run(python, ["-c", script, Self.schema.path] + files.map(\.path))
        try #require(result.status == 0, "\(result.errors)")
        return result.output.split(separator: "\n").map(String.init)
    }

    private func fixtures(_ folder: String) throws -> [URL] {
        let folder = Tool.fixtures.appendingPathComponent(folder)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        return names.sorted().map { folder.appendingPathComponent($0) }
    }

    @Test("Every valid manifest passes, and every structurally invalid one fails", needsValidator)
    func manifests() async throws {
        let sample = Repository.folder.appendingPathComponent("Resources/Substitutions/manifest.json")
        let valid = try fixtures("Valid") + [sample]
        // A schema cannot look at files, compare keys, or detect invalid JSON.
        let structural = ["wrong-kind-", "unknown-", "missing-field", "bad-", "reserved-header"]
        let invalid = try fixtures("Invalid").filter { file in
            structural.contains { file.lastPathComponent.hasPrefix($0) }
                && file.lastPathComponent != "bad-url-for-folder.json"
        }
        #expect(valid.count > 5 && invalid.count > 10)
        #expect(try await refused(valid + invalid) == invalid.map(\.lastPathComponent))
    }

    @Test("The schema in the repository is the one that the tool prints")
    func written() async throws {
        #expect(try await Tool.run(["init", "--schema"]).output == String(contentsOf: Self.schema, encoding: .utf8))
    }

    @Test("Each pattern has an error message, so that editors never show a regular expression")
    func sentences() throws {
        func patternsWithoutSentence(_ value: Any, _ path: String) -> [String] {
            if let list = value as? [Any] { return list.flatMap { patternsWithoutSentence($0, path) } }
            guard let schema = value as? [String: Any] else { return [] }
            let isMute =
                schema["pattern"] is String && schema["errorMessage"] == nil && schema["patternErrorMessage"] == nil
            // A pattern inside `if` only selects another schema, so no error message shows the pattern.
            return (isMute && !path.contains("/if/") ? [path] : [])
                + schema.flatMap { patternsWithoutSentence($0.value, "\(path)/\($0.key)") }
        }
        let schema = try JSONSerialization.jsonObject(with: Data(contentsOf: Self.schema))
        #expect(patternsWithoutSentence(schema, "") == [])
    }
}
#endif

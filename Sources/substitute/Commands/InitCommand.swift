import Foundation
import LocalSubstitutionCache

/// Makes a folder to begin with.
enum InitCommand {
    static let command = Command(
        name: "init",
        summary: "Makes the folder Substitutions with a manifest, its schema and a first entry.",
        operands: "[FOLDER]",
        operandKind: .folder,
        options: [],
        discussion: """
            Without a FOLDER it makes Sources/TARGET/Substitutions in a package with one target, and Substitutions
            elsewhere. It writes over nothing.

            Exits with 0 when the folder was made, 1 when it could not be, and 2 when it is used wrongly.
            """,
        example: "  substitute init Sources/App/Substitutions",
        run: run
    )

    private static func run(_ arguments: Arguments, _ console: Console) throws -> Int32 {
        guard arguments.operands.count <= 1 else { throw UsageError("name one folder") }
        let folder = try arguments.operands.first ?? defaultFolder()
        let (manifest, file) = ("\(folder)/manifest.json", "\(folder)/hello.txt")
        if let taken = [manifest, file].first(where: FileManager.default.fileExists) {
            throw ToolError("\(quoted(taken)) is there already, and stays as it is")
        }
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw ToolError("the folder \(quoted(folder)) cannot be made: \(error.localizedDescription)")
        }
        let schema = schemaPlace(for: folder)
        if !FileManager.default.fileExists(atPath: schema.file) { try Console.write(Schema.text, to: schema.file) }
        let text = """
            {
              "$schema": "\(schema.reference)",

              "https://example.com/hello.txt": "hello.txt"
            }

            """
        try Console.write(text, to: manifest)
        try Console.write("This file answers for https://example.com/hello.txt.\n", to: file)
        console.print(
            """
            Made \(visible(manifest)) with a first entry for \(visible(file)), and \(visible(schema.file)) for editors.

            Next:
              \(nextStep(folder))
              substitute check       tells everything that is wrong with the manifest
              substitute preview     shows what ships
            """
        )
        return 0
    }

    /// How the folder gets into the app.
    private static func nextStep(_ folder: String) -> String {
        let parts = folder.split(separator: "/")
        guard parts.first == "Sources", parts.count > 2 else {
            return
                "In Xcode: drag the folder into the project, and untick \"Build Folder Contents\" in its File inspector."
        }
        return
            "In Package.swift, for the target \(parts[1]): resources: [.copy(\(quoted(parts.dropFirst(2).joined(separator: "/"))))]"
    }

    private static func defaultFolder() throws(UsageError) -> String {
        guard FileManager.default.fileExists(atPath: "Package.swift") else { return "Substitutions" }
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: "Sources")) ?? []).sorted()
        let targets = names.filter { name in
            var isFolder: ObjCBool = false
            let isThere = FileManager.default.fileExists(atPath: "Sources/\(name)", isDirectory: &isFolder)
            return isThere && isFolder.boolValue && !name.hasPrefix(".")
        }
        guard let target = targets.first, targets.count == 1 else {
            let example = "Sources/\(targets.first ?? "App")/Substitutions"
            throw UsageError("name the folder in the target that ships it, such as: substitute init \(example)")
        }
        return "Sources/\(target)/Substitutions"
    }

    /// Where the schema lies: in a package outside its targets, which would have to handle it, and else beside the
    /// folder.
    private static func schemaPlace(for folder: String) -> (file: String, reference: String) {
        let name = "manifest.schema.json"
        let url = URL(fileURLWithPath: folder).standardizedFileURL
        var above = url.deletingLastPathComponent()
        var way = "../"
        while above.path != "/" {
            if FileManager.default.fileExists(atPath: above.appendingPathComponent("Package.swift").path) {
                let current = URL(fileURLWithPath: FileManager.default.currentDirectoryPath).standardizedFileURL
                return (above.path == current.path ? name : above.appendingPathComponent(name).path, way + name)
            }
            above.deleteLastPathComponent()
            way += "../"
        }
        let parent =
            folder.split(separator: "/").count > 1 && !folder.hasPrefix("/")
            ? folder.split(separator: "/").dropLast().joined(separator: "/") + "/" : ""
        return folder.hasPrefix("/")
            ? (url.deletingLastPathComponent().appendingPathComponent(name).path, "../" + name)
            : (parent + name, "../" + name)
    }
}

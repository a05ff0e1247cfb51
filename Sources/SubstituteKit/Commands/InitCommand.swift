import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Creates a folder with a first manifest, or writes the schema of manifests.
enum InitCommand {
    static let command = Command(
        name: "init",
        options: [schema, output],
        run: run
    )

    private static let schema = Option("schema")
    private static let output = Option("output", short: "o", value: "file") { $0 }

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
        if arguments.has(schema) {
            if let operand = arguments.operands.first {
                throw UsageError("\(quoted(operand)) is not needed; use -o for a file")
            }
            if let file = try arguments[output], file != "-" {
                try OutputFile(file, console).write(Data(Schema.sealedText.utf8))
                console.print("Wrote \(visible(file)).")
            } else {
                console.print(String(Schema.sealedText.dropLast()))
            }
            return .good
        }
        if arguments.has(output) { throw UsageError("--output is for --schema; name the folder without an option") }
        guard arguments.operands.count <= 1 else { throw UsageError("name one folder") }
        let name = try arguments.operands.first ?? defaultFolder(console)
        let kind = console.folder.targetKind(of: name)
        if name.isEmpty || name.contains("://") || kind != nil && kind != .typeDirectory {
            let example = console.tool.words("init Sources/App/Substitutions")
            throw UsageError("\(quoted(name)) is no folder; name one, as in: \(example)")
        }
        let folder = console.folder.standardizedURL(of: name)
        let others = ManifestLocation(console).all().filter { path in
            console.folder.standardizedURL(of: path).deletingLastPathComponent().path != folder.path
        }
        if let other = others.first, arguments.operands.isEmpty {
            throw UsageError(
                "there is a manifest already, \(quoted(other)); add to it, as in: "
                    + "\(console.tool.words("add https://example.com/a.png")); for a second one, name its folder, as in: "
                    + console.tool.words("init \(visible(name))")
            )
        }
        let (manifest, file) = (
            folder.appendingPathComponent("manifest.json"), folder.appendingPathComponent("hello.txt")
        )
        if let taken = [manifest, file].first(where: { FileSystem.kind(of: $0.path) != nil }) {
            throw ToolError("\(quoted("\(name)/\(taken.lastPathComponent)")) already exists, and was not changed")
        }
        let package = package(around: folder)
        let schema = (package ?? folderOfSchema(for: folder, in: console.folder)).appendingPathComponent(
            "manifest.schema.json"
        )
        let text = """
            {
              "$schema": "\(reference(from: folder, to: schema))",

              "https://example.com/hello.txt": "hello.txt"
            }

            """
        var files = [(file, "This file answers for https://example.com/hello.txt.\n"), (manifest, text)]
        let hasSchema = ![nil, .unexamined].contains(FileSystem.kind(of: schema.path))
        if !hasSchema { files.insert((schema, Schema.sealedText), at: 0) }
        try create(files, in: folder, named: name)
        console.print(
            """
            Created \(visible(name))/manifest.json, with a first entry for \(visible(name))/hello.txt.
            Editors check the manifest with \(schema.lastPathComponent).

            Next:
            """
        )
        if let step = nextStep(folder, in: package) { console.print("  \(step)") }
        // With several manifests, a command needs the name of one.
        let operand = others.isEmpty || name.contains(" ") ? "" : " \(visible(name))"
        let steps = [
            ["  " + console.tool.words("check\(operand)"), "reports everything that is wrong with the manifest"],
            ["  " + console.tool.words("preview\(operand)"), "shows the files that ship"],
        ]
        try console.print(steps.map { ReportItem(cells: $0) }, as: .text)
        if let other = others.first {
            console.print("There is another manifest, \(visible(other)), so every command needs the name of one.")
        }
        return .good
    }

    /// Returns the folder for the schema of a new manifest folder.
    ///
    /// This is the parent of the manifest folder, or the manifest folder itself if the parent is outside the current
    /// folder.
    private static func folderOfSchema(for folder: URL, in here: CurrentFolder) -> URL {
        let current = URL(fileURLWithPath: here.path).standardizedFileURL
        let isBelow =
            folder.pathComponents.count > current.pathComponents.count
            && folder.pathComponents.starts(with: current.pathComponents)
        return isBelow ? folder.deletingLastPathComponent() : folder
    }

    /// Returns the instruction for adding the folder to the app; nil if the package already declares the folder.
    private static func nextStep(_ folder: URL, in package: URL?) -> String? {
        let parts = package.map { folder.pathComponents.dropFirst($0.pathComponents.count) } ?? []
        guard let package, parts.first == "Sources", parts.count > 2 else {
            return
                "In Xcode: drag the folder into the project, and untick \"Build Folder Contents\" in its File inspector."
        }
        let names = Array(parts)
        let path = names.dropFirst(2).joined(separator: "/")
        let text = try? String(contentsOf: package.appendingPathComponent("Package.swift"), encoding: .utf8)
        if text?.contains(".copy(\"\(path)\")") == true { return nil }
        return "In Package.swift, for the target \(visible(names[1])): resources: [.copy(\(quoted(path)))]"
    }

    private static func defaultFolder(_ console: Console) throws(UsageError) -> String {
        let folder = console.folder
        if folder.path.hasSuffix("/Substitutions") { return "." }
        let package = folder.targetKind(of: "Package.swift")
        if package == .unexamined {
            throw UsageError(
                "\"Package.swift\" cannot be examined; name the folder, as in: \(console.tool.words("init Substitutions"))"
            )
        }
        guard package != nil else { return "Substitutions" }
        let targets = folder.names(in: "Sources").sorted().filter { name in
            !name.hasPrefix(".") && folder.targetKind(of: "Sources/\(name)") == .typeDirectory
        }
        guard let target = targets.first, targets.count == 1 else {
            let example = "Sources/\(visible(targets.first ?? "App"))/Substitutions"
            throw UsageError(
                "name the folder in the target that ships it, such as: \(console.tool.words("init \(example)"))"
            )
        }
        return "Sources/\(target)/Substitutions"
    }

    /// Returns the folder of the package that contains a folder; nil if no package contains the folder.
    private static func package(around folder: URL) -> URL? {
        folder.withFoldersAbove.dropLast().first { above in
            FileManager.default.fileExists(atPath: above.appendingPathComponent("Package.swift").path)
        }
    }

    /// Returns the relative path from a folder to a file in the same folder or in one of its parents.
    private static func reference(from folder: URL, to file: URL) -> String {
        let levels = folder.pathComponents.count - file.deletingLastPathComponent().pathComponents.count
        return String(repeating: "../", count: levels) + file.lastPathComponent
    }

    /// Creates a folder and files; if one of them cannot be created, removes the others again.
    private static func create(_ files: [(file: URL, text: String)], in folder: URL, named name: String) throws {
        var made: [URL] = []
        func create(_ name: String, _ body: () throws -> Void) throws {
            do {
                try FileSystem.again(body)
            } catch {
                // A folder that holds something else stays.
                for file in made.reversed() { remove(file.path) }
                throw ToolError("\(name) cannot be created: \(FileSystem.reason(error))")
            }
        }
        for next in folder.withFoldersAbove.prefix(while: { FileSystem.kind(of: $0.path) == nil }).reversed() {
            try create("the folder \(quoted(name))") {
                guard mkdir(next.path, 0o777) == 0 || errno == EEXIST else { throw FileSystem.systemError }
            }
            made.append(next)
        }
        for (file, text) in files {
            try create(quoted(file.path)) { try FileSystem.create(Data(text.utf8), at: file) }
            made.append(file)
        }
    }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

/// The pages and options that `add` and `verify` repeat if their command line names no page.
///
/// They are in a file beside the manifest. Its members are the names of options, and `pages`:
/// ```json
/// { "pages": ["https://example.com/"], "in-browser": true, "device": ["phone", "desktop"], "at-least": "90%" }
/// ```
/// A command skips the options that only the other one has. Options on the command line come after those of the file.
struct SavedOptions {
    static let name = IgnoredFindings.fileName

    /// The words of the options that the command has.
    private(set) var options: [String] = []
    private(set) var pages: [String] = []
    private let file: String
    private let text: Data

    /// Reads the file beside the manifest that the operands name; nil if there is none.
    ///
    /// It is not read, either, if the operands name a page.
    ///
    /// - Throws: ``ToolError`` if the file cannot be read, or is none of options and pages.
    init?(for command: Command, _ operands: [String], _ console: Console) throws {
        let location = ManifestLocation(console)
        guard let (named, typed) = try? location.split(operands), typed.isEmpty,
            let manifest = try? location.find(named)
        else { return nil }
        let url = manifest.folder.appendingPathComponent(Self.name)
        guard FileSystem.kind(of: url.path) != nil else { return nil }
        let folder = manifest.name.lastIndex(of: "/").map { manifest.name[...$0] } ?? ""
        file = folder + Self.name
        text = try FileSystem.contents(of: url)
        if let problem = JSONProblem(in: text) { throw error(problem) }
        let root = RepairingJSONParser.parse(text).value
        // A file that only ignores warnings is for check.
        if case .object(let members) = root.kind, members.map(\.name) == ["ignore"] { return nil }
        try read(root, for: command)
        console.printError("\(visible(file)): \(console.tool.line([command.name] + options + pages))")
    }

    private mutating func read(_ root: JSONValue, for command: Command) throws(ToolError) {
        guard case .object(let members) = root.kind else {
            throw error("write an object, such as { \"pages\": [\"https://example.com/\"] }", at: root)
        }
        let all = AddCommand.command.options + VerifyCommand.command.options
        let known = all.filter { Self.kept.contains($0.name) }
        for member in members where !member.name.hasPrefix("$") && member.name != "ignore" {
            if member.name == "pages" {
                pages = try texts(member)
                // Another operand could name a manifest outside this folder.
                let isPage = pages.allSatisfy { $0.hasPrefix("https://") || $0.hasPrefix("http://") }
                guard isPage else { throw error("begin each page with https:// or http://", at: member.value) }
            } else if let option = known.first(where: { $0.name == member.name }) {
                let words = try words(option, member)
                if command.options.contains(where: { $0.name == option.name }) { options += words }
            } else {
                let meant = suggestion(for: member.name, among: known.map { $0.name } + ["pages"])
                let remedy = meant.map { "; did you mean \(quoted($0))?" } ?? ", and the pages are \"pages\""
                throw error(
                    all.contains { $0.name == member.name }
                        ? "--\(member.name) is for the command line only"
                        : "\(quoted(member.name)) is no option of add or verify\(remedy)",
                    at: JSONValue(kind: .null, offset: member.nameOffset)
                )
            }
        }
        if pages.isEmpty { throw error("name the pages: \"pages\": [\"https://example.com/\"]", at: root) }
    }

    /// The options that a file keeps.
    ///
    /// The folder may come from others. So there are none that start a program, write elsewhere, take what is private,
    /// or replace a file.
    private static let kept: Set = [
        "in-browser", "device", "scroll", "wait", "timeout", "with-references", "also-host",
        "only-host", "only", "exclude", "strip-query", "max-size", "at-least", "allow-changed",
        "tolerance", "mask",
    ]

    private func words(_ option: some CommandOption, _ member: JSONMember) throws(ToolError) -> [String] {
        if option.value != nil { return try texts(member).flatMap { ["--\(option.name)", $0] } }
        guard case .bool(let isOn) = member.value.kind else {
            throw error("write true or false for \(quoted(option.name))", at: member.value)
        }
        return isOn ? ["--\(option.name)"] : []
    }

    /// Returns the text of a member, or the texts of its list.
    private func texts(_ member: JSONMember) throws(ToolError) -> [String] {
        let values = if case .array(let values) = member.value.kind { values } else { [member.value] }
        return try values.map { value throws(ToolError) in
            switch value.kind {
            case .string(let text) where !text.hasPrefix("-"): return text
            case .number(let digits): return digits
            default: throw error("write a text in quotation marks for \(quoted(member.name))", at: value)
            }
        }
    }

    private func error(_ message: String, at value: JSONValue) -> ToolError {
        error(JSONProblem(message, at: value.offset, in: text))
    }

    private func error(_ problem: JSONProblem) -> ToolError {
        ToolError("\(visible(file)):\(problem.line):\(problem.column): \(problem.message)")
    }
}

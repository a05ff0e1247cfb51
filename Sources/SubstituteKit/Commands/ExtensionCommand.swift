import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionRules

/// Writes a web extension.
enum ExtensionCommand {
    static let command = Command(
        name: "extension",
        options: [output, pages],
        run: run
    )

    private static let output = Option("output", short: "o", value: "folder") { $0 }
    private static let pages = Option(repeated: "pages", value: "host") { try $0.map(HostPattern.read) }

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
        guard let folder = try arguments[output], !folder.isEmpty else {
            throw UsageError("name the folder to write, as in: substitute extension -o SiteWithAppFiles")
        }
        let pages = try arguments[pages]
        let manifest = try ManifestLocation(console).only(arguments.operands)
        let check = try manifest.checked(on: console.now())
        let target = try OutputFolder(folder, in: console.folder, besides: manifest.folder)
        let web = try WebExtension(check.shipped, name: manifest.url.lastPathComponent, pages: pages)
        try target.write(web.files)
        report(web, target, console)
        return .good
    }

    private static func report(_ web: WebExtension, _ target: OutputFolder, _ console: Console) {
        let urls = Set(web.ruleset.rules.map(\.substitution)).map { web.ruleset.substitutions[$0] }
        console.print("\(visible(target.path)) shows \(Inventory(urls).description)")
        let doubled = web.rootCopies.values
        if !doubled.isEmpty {
            console.print(
                "\(counted(doubled.count, "file")), \(ByteCount(doubled.reduce(0) { $0 + $1.size })), "
                    + "\(doubled.count == 1 ? "is" : "are") in it twice, because stylesheets and scripts refer to "
                    + "\(doubled.count == 1 ? "it" : "them") from the root"
            )
        }
        let dated = web.ruleset.dated
        if !dated.isEmpty { console.print("\nAlso shown after their last day, until you run this again:") }
        for substitution in dated {
            console.print("  line \(substitution.line) \(quoted(substitution.namedURL)): \(substitution.lastDay ?? "")")
        }
        let omissions = web.ruleset.omissions
        if !omissions.isEmpty { console.print("\nLeft to the network:") }
        for omission in omissions {
            console.print("  line \(omission.line) \(quoted(omission.url)): \(omission.reason)")
        }
        console.print("\n" + Command.help(of: "extension, to see the site"))
    }
}

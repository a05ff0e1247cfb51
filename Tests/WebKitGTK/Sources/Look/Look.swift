import Foundation
import FoundationNetworking
import LocalSubstitutionArchive
import LoopbackServer

@testable import Browser
@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

/// Shows a page in WebKit with and without the app's files, and prints the source of each answer.
@main
struct Look {
    static let help = """
        USAGE: swift run --package-path WebKitGTK Look [PAGE --manifest FILE] [--archive FOLDER] [-o FOLDER]

        Opens a page three times: from the network, with rules that lead its requests to the app's files, and as a
        mirror. Writes network.png, rules.png and mirror.png, and prints the source of each resource. Without PAGE,
        opens the Demo's page, whose server runs on this machine and counts the requests that reach it.

        OPTIONS:
          --manifest FILE  The manifest, with its files in the same folder.
          --archive FOLDER Opens the page as a mirror only, with an archive in this folder.
          -o FOLDER        The folder for the pictures; by default the current folder.
          -h, --help       Print this help.
        """

    static func main() async {
        do {
            try await look(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("Look: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func look(_ arguments: [String]) async throws {
        var (page, manifest, archiveFolder, folder): (String?, String?, String?, String) = (nil, nil, nil, ".")
        var words = arguments[...]
        while let word = words.popFirst() {
            switch word {
            case "-h", "--help": return print(help)
            case "--manifest": manifest = words.popFirst()
            case "--archive": archiveFolder = words.popFirst()
            case "-o": folder = words.popFirst() ?? "."
            default: page = word
            }
        }
        guard (page == nil) == (manifest == nil) else {
            throw BrowserError("name both PAGE and --manifest, or neither; see --help")
        }
        let demo = page == nil ? try DemoSite() : nil
        let cache = try demo?.cache ?? SubstitutionCache(manifest: URL(fileURLWithPath: manifest ?? ""))
        let address = page ?? demo?.page ?? ""
        guard let origin = WebOrigin(address) else {
            throw BrowserError("\(quoted(address)) is not an http or https URL")
        }
        let archive = try archiveFolder.map { path in
            let host = URL(string: address)?.host
            return try OfflineArchive(
                directory: URL(fileURLWithPath: path),
                capacity: 100_000_000,
                hosts: Set([host].compactMap(\.self))
            )
        }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for way in archive == nil ? Way.allCases : [.mirror] {
            demo?.server.forgetRequests()
            let browser = try await way.browser(cache, forwardingTo: [origin.authority], archive)
            try await browser.load(way.address(of: address))
            let picture = URL(fileURLWithPath: folder).appendingPathComponent("\(way.rawValue).png")
            try await browser.picture().write(to: picture)
            print("\(way.title): \(picture.path)")
            let loaded = try await browser.evaluate(
                "return [location.href, ...performance.getEntriesByType('resource').map(e => e.name)].join('\\n')"
            )
            // Leave out the URLs that `SchemeServer` loaded from the network. `answered` also contains these.
            let files = Set(browser.answered.filter { $0.isFile }.map { original(of: $0.url) })
            // WebKit records no performance entries for loads from a custom scheme.
            let asked = loaded.components(separatedBy: "\n") + browser.answered.map(\.url)
            for url in unique(asked.map(original)) {
                print("  \(files.contains(url) ? "bundle " : "network")  \(url)")
            }
            if let demo {
                print("  \(demo.requests.count) reached the server: \(demo.requests.joined(separator: " "))")
            }
            print("")
        }
    }

    private static func original(of url: String) -> String {
        URL(string: url).flatMap(MirrorURL.original)?.absoluteString ?? url
    }

    private static func unique(_ urls: [String]) -> [String] {
        var seen: Set<String> = []
        return urls.filter { seen.insert($0).inserted }
    }
}

extension Way {
    fileprivate var title: String {
        switch self {
        case .network: "From the network"
        case .rules: "On its own origin, with rules"
        case .mirror: "As a mirror"
        }
    }
}

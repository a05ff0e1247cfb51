import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionRules

/// A web extension (Manifest V3) that shows a site with a manifest's files.
///
/// The extension is for Chromium, Firefox and Safari.
struct WebExtension {
    /// The content of each file, keyed by path.
    ///
    /// The same manifest always results in the same files.
    let files: [String: OutputFolder.Content]
    let ruleset: Ruleset
    /// The copied files, keyed by path.
    let copies: [String: Substitution]
    /// The files that are also copied to the root, keyed by path.
    ///
    /// References that begin with "/" lead to these copies.
    let rootCopies: [String: Substitution]

    /// The names of the extension's own files.
    static let fileNames = [
        "manifest.json", "rules.json", "toolbar.html", "toolbar.js", "icon.png",
    ]

    /// The number of rules that every browser engine accepts, and the number of rules that may have regular
    /// expressions.
    ///
    /// Chromium guarantees the first number (`GUARANTEED_MINIMUM_STATIC_RULES`). It ignores rules with regular
    /// expressions beyond the second number (`MAX_NUMBER_OF_REGEX_RULES`). Firefox has the same limits. If a limit is
    /// exceeded, Firefox loads no rule.
    static let (maximumRules, maximumExpressions) = (30_000, 1_000)

    /// Creates the extension.
    ///
    /// - Parameters:
    ///   - substitutions: The mapped files, without expired entries.
    ///   - name: The manifest's name in messages.
    ///   - pages: Additional hosts: the hosts of pages that use the files.
    /// - Throws: ``ToolError`` if no entry can be expressed as a rule, or if there are more rules than browsers accept.
    init(_ substitutions: [Substitution], name: String, pages: [String]) throws {
        let ruleset = Ruleset(substitutions, unless: Self.refusal)
        guard !ruleset.rules.isEmpty else {
            let reasons = ruleset.omissions.prefix(5).map {
                "\n  line \($0.line) \(quoted($0.url)): \($0.reason)"
            }
            throw ToolError(
                "nothing in \(quoted(name)) can be shown in a browser"
                    + (reasons.isEmpty ? ": it maps nothing" : ":\(reasons.joined())")
            )
        }
        self.ruleset = ruleset
        var layout = ExtensionLayout()
        var rules: [DeclarativeRule] = []
        var rows: [JSONObject] = []
        var shown: Set<Int> = []
        for rule in ruleset.rules {
            let substitution = ruleset.substitutions[rule.substitution]
            let address = Self.address(of: rule.filter.start)
            let place = layout.assignPath(substitution, authority: address.authority, path: address.path)
            rules.append(DeclarativeRule(rules.count + 1, rule.filter, toFile: "/" + place.percentEncoded))
            if shown.insert(rule.substitution).inserted {
                let kind = FileKind(substitution.type).rawValue
                rows.append(substitution.row().with(["address": place.percentEncoded, "kind": kind]))
            }
        }
        try Self.checkNumbers(of: rules, ruleset, name: name)
        var scanned = ScannedFiles()
        let roots = RootCopies(layout.all, &scanned)
        for (path, substitution) in roots.paths { layout.placeAtRoot(substitution, path) }
        let manifest = try Self.manifest(hosts: Self.hosts(of: ruleset), pages: pages, shown: layout.patterns)
        // The page of the toolbar button has a switch, the list of substitutions, and what is left to the network.
        let left = ruleset.omissions.map { omission -> JSONObject in
            ["url": visible(omission.url), "line": omission.line, "reason": omission.reason]
        }
        let page = try Page(
            "What is substituted: \(visible(name))",
            ["name": visible(name), "rows": rows, "left": left],
            style: PackageResources.toolbar_css,
            scripts: [],
            in: "toolbar.js"
        )
        var files: [String: OutputFolder.Content] = [
            "rules.json": .bytes(try Self.json(rules)), "manifest.json": .bytes(manifest),
            "toolbar.html": .bytes(Data(page.html.utf8)),
            "toolbar.js": .bytes(Data(Page.script([PackageResources.toolbar_js]).utf8)),
            "icon.png": .bytes(Data(PackageResources.icon_png)),
        ]
        (copies, rootCopies) = (layout.copies, layout.rootCopies)
        for (place, substitution) in copies.merging(rootCopies, uniquingKeysWith: { $1 }) {
            files[place] = .copy(of: substitution)
        }
        self.files = files
    }

    /// Returns the reason why the extension cannot answer with a substitution's file; nil if there is no reason.
    private static func refusal(_ substitution: Substitution) -> String? {
        // A rule answers a service worker's fetch with a redirect. If the service worker passes the redirected
        // response to a navigation, the navigation fails, because the redirect mode of a navigation is "manual" (Fetch
        // Standard, "HTTP fetch"). Chromium then shows an error instead of the page.
        if substitution.type.isHTML {
            return "a page, because pages always come from the network"
        }
        if substitution.type.essence == "text/vtt" { return "subtitles, because Chromium loads none from an extension" }
        if let address = substitution.addresses.first(where: { !HostPattern.isHost(HostPattern.host(of: $0.authority)) }
        ) {
            return "browsers do not accept the host \(quoted(HostPattern.host(of: address.authority)))"
        }
        if let header = substitution.entry.headers.keys.min() {
            return "files of an extension cannot have \"headers\", such as \(quoted(header))"
        }
        let type = substitution.type
        if !type.isPlain {
            return "files of an extension cannot have a \"type\" with parameters, such as \(quoted(type.description))"
        }
        if type.fileExtension == nil {
            return
                "browsers infer the type of a file from its extension, and none is known for \(quoted(type.essence))"
        }
        return nil
    }

    /// Returns the authority and path of a rule's URL; the URL is in normal form.
    private static func address(of start: String) -> (authority: String, path: String) {
        let rest = start.drop { $0 != "/" }.dropFirst(2)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        return (String(rest[..<slash]), String(rest[slash...].prefix { !"?#".contains($0) }))
    }

    private static func checkNumbers(of rules: [DeclarativeRule], _ ruleset: Ruleset, name: String) throws(ToolError) {
        let all = ruleset.rules.indices
        let expressions = all.filter { rules[$0].isRegularExpression }
        for (indices, limit, noun) in [
            (Array(all), maximumRules, "rules"), (expressions, maximumExpressions, "rules with regular expressions"),
        ]
        where indices.count > limit {
            let count = max(indices.count, limit == maximumRules ? ruleset.count : 0)
            let most = ruleset.costliest(indices.map { ruleset.rules[$0] }).prefix(5).map {
                "\n  line \($0.entry.line) \(quoted($0.entry.namedURL)): \($0.count)"
            }
            throw ToolError(
                "\(quoted(name)) needs \(count) \(noun), and browsers accept \(limit); make an extension of a manifest "
                    + "with fewer entries. Most are needed by:\(most.joined())"
            )
        }
    }

    /// Returns `scheme://host` for each URL.
    ///
    /// A host counts even if all its entries are left to the network: its pages may ask for the other hosts' files.
    /// The port is removed, because Firefox's match patterns do not support ports.
    private static func hosts(of ruleset: Ruleset) -> [String] {
        let addresses = ruleset.substitutions.flatMap(\.addresses).map {
            ($0.scheme, HostPattern.host(of: $0.authority))
        }
        return Set(addresses.filter { HostPattern.isHost($0.1) }.map { "\($0.0)://\($0.1)" }).sorted()
    }

    private static func json(_ rules: [DeclarativeRule]) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(rules) + Data("\n".utf8)
    }

    /// Returns the extension's manifest.
    ///
    /// Its permission lets the extension declare rules for requests, but not read the requests.
    /// https://developer.mozilla.org/docs/Mozilla/Add-ons/WebExtensions/manifest.json
    private static func manifest(hosts: [String], pages: [String], shown: [String]) throws -> Data {
        let patterns = Set(hosts.map { "\($0)/*" } + pages.map { "*://\($0)/*" }).sorted()
        let names = Set(hosts.compactMap { $0.split(separator: "/").last.map(String.init) }).sorted()
        let first = names.first ?? ""
        // Firefox requires an ID in the form of an email address. A new extension replaces an installed extension with
        // the same ID.
        let id = first.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") ? $0 : "-" }
        let own: [String: Any] = [
            "name": String("Substitutions: \(names.joined(separator: ", "))".prefix(45)),
            "description": "Shows files of an app instead of what \(first) sends. Made by substitute extension.",
            "host_permissions": patterns, "web_accessible_resources": [["resources": shown, "matches": patterns]],
            "browser_specific_settings": [
                "gecko": ["id": "substitutions@\(String(id))", "strict_min_version": "128.0"]
            ],
        ]
        let fixed = try JSONSerialization.jsonObject(with: Data(PackageResources.extension_json)) as? [String: Any]
        let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let whole = own.merging(fixed ?? [:]) { $1 }
        return try JSONSerialization.data(withJSONObject: whole, options: options) + Data("\n".utf8)
    }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The page that shows a manifest's files: one HTML file with its style and script inline.
struct PreviewPage {
    private let check: ManifestCheck
    private let summary: PreviewSummary
    private let cards: [PreviewCard]
    /// The anchor of each entry's first card, keyed by the position of the entry.
    private let anchors: [ManifestCheck.Position: String]
    /// The nonce of the page's own script; a browser runs no script without this nonce.
    ///
    /// The nonce is random, so text from the manifest cannot contain it.
    private let nonce = UUID().uuidString
    /// The version of a page from the preview server; nil for a page that is written to a file.
    private let version: Int?
    /// The words with which the user calls the tool.
    private let tool: ToolName
    /// The manifest, for a page that stays on this machine; nil for a page that the user may give to other people.
    private let editable: URL?

    /// Lays out a page that is written to a file.
    ///
    /// - Parameters:
    ///   - check: The checked manifest.
    ///   - folder: The folder that contains the manifest's files.
    ///   - page: The folder that the page is written to; file addresses are relative to it.
    ///   - tool: The words with which the user calls the tool.
    ///   - marks: Sentences about the servers' versions of the files, keyed by path.
    ///   - use: The number of times that each URL was answered from a file; nil if not known.
    ///   - editable: The manifest, if the page's line numbers are to be links that open it in an editor; otherwise nil.
    init(
        _ check: ManifestCheck,
        folder: URL,
        from page: URL,
        _ tool: ToolName,
        marks: [String: String] = [:],
        use: RecordedUse? = nil,
        editable: URL? = nil
    ) {
        let prefix = Self.path(to: folder, from: page)
        self.init(check, tool, version: nil, marks: marks, use: use, editable: editable) {
            Self.encoded(prefix + $0.file)
        }
    }

    /// Lays out a page for the preview server; `address` returns the address at which the server offers a file.
    init(
        _ check: ManifestCheck,
        _ tool: ToolName,
        version: Int?,
        marks: [String: String],
        use: RecordedUse?,
        editable: URL?,
        address: (Substitution) -> String
    ) {
        (self.check, self.tool) = (check, tool)
        summary = PreviewSummary(check)
        self.version = version
        self.editable = editable
        cards = check.substitutions.enumerated().map { number, substitution in
            PreviewCard(
                substitution: substitution,
                kind: FileKind(substitution.type),
                address: address(substitution),
                problem: check.contentProblems[substitution.file],
                isExpired: substitution.isExpired(on: check.date),
                mark: marks[substitution.file],
                use: use?.words(substitution),
                number: number
            )
        }
        anchors = Dictionary(cards.map { ($0.place, $0.anchor) }, uniquingKeysWith: { first, _ in first })
    }

    /// The page with a seal, for a file that the tool may replace.
    var sealedHTML: String { String(decoding: Seal.sealed(Data(html.utf8), "<!-- ", " -->"), as: UTF8.self) }

    var html: String {
        """
        <!doctype html>
        <html lang="en"\(data)>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="\(policy)">
        <title>\(summary.heading): \(HTML.escaped(check.name))</title>
        <style>
        \(String(resource: PackageResources.preview_css))</style>
        <header>
        <h1>\(summary.heading)</h1>
        <p class="manifest">\(HTML.inParts(check.name))</p>
        \(summary.html)
        </header>
        <div id="issues">\(issues)</div>
        \(filter)<main>
        <ul class="cards" id="flat"></ul>
        \(cards.isEmpty ? empty : hosts)</main>
        <script nonce="\(nonce)">
        \(script)</script>
        </html>
        """
    }

    private var script: String {
        // A page that is served shows each version of its files.
        [
            PackageResources.pictures_js, PackageResources.preview_js,
            version.map { _ in PackageResources.preview_live_js },
        ]
        .compactMap { $0.map(String.init(resource:)) }.joined()
    }

    /// The attributes that the script reads from the page's root element.
    private var data: String {
        (version.map { " data-version=\"\($0)\"" } ?? "")
            + (editable.map { " data-manifest=\"\(Self.encoded($0.absoluteURL.standardizedFileURL.path))\"" } ?? "")
    }

    /// The content security policy: the page loads only files beside it and sends nothing.
    ///
    /// A page from the preview server may also fetch from that server.
    private var policy: String {
        [
            "default-src 'none'", "img-src 'self' file:", "media-src 'self' file:", "font-src 'self' file:",
            "style-src 'unsafe-inline'", "connect-src \(version == nil ? "'none'" : "'self'")",
            "script-src 'nonce-\(nonce)'", "base-uri 'none'", "form-action 'none'",
        ].joined(separator: "; ")
    }

    private var issues: String {
        if check.issues.isEmpty { return "" }
        let excerpts = Excerpts(check.text)
        let items = check.issues.map { issue in
            "<li class=\"\(issue.severity.rawValue)\"><b>\(issue.severity.rawValue)</b> \(place(of: issue)) "
                + "\(HTML.escaped(issue.message))\(excerpt(of: issue, excerpts))</li>\n"
        }
        let worst = check.issues.contains { $0.severity == .error } ? "error" : "warning"
        return
            "<section class=\"issues \(worst)\" aria-label=\"Errors and warnings\">\n<ul>\n\(items.joined())</ul>\n</section>\n"
    }

    /// Returns the issue's line and column as a link to the card of its entry.
    ///
    /// Once the user has chosen an editor, the page's script makes the link open the line in the editor.
    private func place(of issue: ManifestIssue) -> String {
        if issue.isAboutTheWhole { return "" }
        let card = target(of: issue).map { " href=\"#\($0)\"" } ?? ""
        let place = "\(issue.line):\(issue.column)"
        return "<a\(card) data-place=\"\(place)\">\(place)</a>"
    }

    private func excerpt(of issue: ManifestIssue, _ excerpts: Excerpts) -> String {
        guard issue.severity == .error, let line = excerpts.line(of: issue) else { return "" }
        // The line wraps on a narrow screen, so a caret below it could stand below another character.
        let place = line.after.first.map(String.init) ?? " "
        return "<pre>\(HTML.escaped(line.before))<mark>\(HTML.escaped(place))</mark>"
            + "\(HTML.escaped(String(line.after.dropFirst())))</pre>"
    }

    /// Returns the anchor of the first card for the entry that contains an issue.
    ///
    /// This entry is the last one that begins at or before the issue.
    private func target(of issue: ManifestIssue) -> String? {
        guard !issue.isAboutTheWhole else { return nil }
        let entries = check.entries
        // The entries are in the order of the manifest.
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            let isBefore = (entries[middle].line, entries[middle].column) <= (issue.line, issue.column)
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : anchors[entries[low - 1]]
    }

    /// The cards, grouped by server and folder.
    private var hosts: String {
        // `sorted(by:)` keeps the manifest's order for equal names, because the numbers follow it.
        let sorted = cards.sorted { first, second in
            if first.title.precedes(second.title) { return true }
            return !second.title.precedes(first.title) && first.number < second.number
        }
        return sorted.grouped(by: \.title.host).map { _, host in
            let folders = host.grouped(by: \.title.folder)
            let inventory = Inventory(host.map(\.substitution))
            let only = folders.count == 1 ? "<span>\(HTML.breakable(host[0].title.folder))</span>" : ""
            return """
                <section>
                <h2><b>\(HTML.breakable(host[0].title.host))</b>\(only) <small>\(inventory.total)</small></h2>
                \(folders.map { Self.folder($1, hasHeading: only.isEmpty) }.joined())</section>

                """
        }.joined()
    }

    private static func folder(_ cards: [PreviewCard], hasHeading: Bool) -> String {
        """
        <section>
        \(hasHeading ? "<h3>\(HTML.breakable(cards[0].title.folder))</h3>\n" : "")<ul class="cards">
        \(cards.map(\.html).joined())</ul>
        </section>

        """
    }

    /// The next step for a designer whose manifest names no file; empty if the issues are the next step.
    private var empty: String {
        guard check.errors.isEmpty else { return "" }
        return """
            <p>No file stands in for a URL yet. To load a page with all its files, or single files, run:</p>
            <pre class="next">\(tool.words("add --in-browser")) https://example.com/
            \(tool.words("add")) https://example.com/css/site.css</pre>

            """
    }

    /// The form that filters and orders the cards; the form is hidden until the script shows it.
    ///
    /// Without JavaScript, the page shows all cards and no form.
    private var filter: String {
        let kinds = FileKind.allCases.filter { kind in cards.contains { $0.kind == kind } }
        return """
            <form class="filter" autocomplete="off" hidden>
            <input type="search" aria-label="Find" placeholder="URL, file or type">
            <output></output>
            <select name="kind" aria-label="Kind"><option value="">All kinds\
            \(kinds.map { "<option value=\"\($0.rawValue)\">\($0.title)" }.joined())</select>
            <select name="order" aria-label="Order"><option value="">By name<option value="manifest">As in the manifest\
            <option value="size">Largest first</select>
            \(editable == nil ? "" : PreviewEditor.choice)<fieldset><legend>View</legend>\
            <label><input type="radio" name="view" value="cards" checked>Cards</label>\
            <label><input type="radio" name="view" value="list">List</label></fieldset>
            </form>

            """
    }

    // MARK: - Addresses

    /// Returns the relative path from one folder to another, ending in "/".
    private static func path(to folder: URL, from page: URL) -> String {
        let (target, start) = (components(folder), components(page))
        let common = zip(target, start).prefix { $0.utf8.elementsEqual($1.utf8) }.count
        let way = Array(repeating: "..", count: start.count - common) + target.dropFirst(common)
        return way.isEmpty || way.first != ".."
            ? (["."] + way).joined(separator: "/") + "/" : way.joined(separator: "/") + "/"
    }

    private static func components(_ folder: URL) -> [String] {
        folder.absoluteURL.standardizedFileURL.resolvingSymlinksInPath().pathComponents
    }

    static func encoded(_ path: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"
        )
        return path.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}

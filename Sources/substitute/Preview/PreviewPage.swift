import Foundation
import LocalSubstitutionCache

/// The page that shows what a manifest ships: one file, with its style and its script in it.
struct PreviewPage {
    private let check: ManifestCheck
    private let summary: PreviewSummary
    private let cards: [PreviewCard]
    /// The first card of each entry.
    private let anchors: [ManifestCheck.Place: String]
    /// Allows this page's script and no other; what the manifest says cannot know it.
    private let nonce = UUID().uuidString
    /// What tells one state of a page that is served from the next; nil for a file.
    private let version: Int?

    /// Lays out what is known of a manifest, for a file.
    ///
    /// - Parameters:
    ///   - check: The manifest.
    ///   - folder: Where its files lie.
    ///   - page: The folder that the page will lie in, from which the files are addressed.
    ///   - marks: What servers say of the files, by their paths.
    init(_ check: ManifestCheck, folder: URL, from page: URL, marks: [String: String] = [:]) {
        let prefix = Self.path(to: folder, from: page)
        self.init(check, version: nil, marks: marks) { Self.encoded(prefix + $0.file) }
    }

    /// Lays out what is known of a manifest, for a server that has the files at these addresses.
    init(
        _ check: ManifestCheck,
        version: Int?,
        marks: [String: String],
        address: (Substitution) -> String
    ) {
        self.check = check
        summary = PreviewSummary(check)
        self.version = version
        let now = Date()
        cards = check.substitutions.enumerated().map { number, substitution in
            PreviewCard(
                substitution: substitution,
                kind: FileKind(substitution.mediaType),
                address: address(substitution),
                problem: check.contentProblems[substitution.file],
                isExpired: substitution.isExpired(on: now),
                mark: marks[substitution.file],
                number: number
            )
        }
        anchors = Dictionary(cards.map { ($0.place, $0.anchor) }, uniquingKeysWith: { first, _ in first })
    }

    var html: String {
        """
        <!doctype html>
        <html lang="en"\(version.map { " data-version=\"\($0)\"" } ?? "")>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="\(policy)">
        <title>\(summary.heading): \(HTML.escaped(check.name))</title>
        <style>
        \(Self.style)
        </style>
        <header>
        <h1>\(summary.heading)</h1>
        <p>\(HTML.escaped(check.name))</p>
        \(summary.html)
        </header>
        <div id="issues">\(issues)</div>
        \(filter)<main>
        <ul class="cards">
        \(cards.map(\.html).joined())</ul>
        </main>
        <script nonce="\(nonce)">
        \(Self.script)\(version == nil ? "" : "\n" + Self.liveScript)
        </script>
        </html>
        """
    }

    /// Nothing may be loaded but what lies beside the page, and nothing sent.
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
            let place = issue.isAboutTheWhole ? "" : "\(issue.line):\(issue.column)"
            let link = target(of: issue).map { "<a href=\"#\($0)\">\(place)</a>" } ?? place
            return "<li class=\"\(issue.severity.rawValue)\"><b>\(issue.severity.rawValue)</b> \(link) "
                + "\(HTML.escaped(issue.message))\(excerpt(of: issue, excerpts))</li>\n"
        }
        let worst = check.issues.contains { $0.severity == .error } ? "error" : "warning"
        return
            "<section class=\"issues \(worst)\" aria-label=\"What is wrong\">\n<ul>\n\(items.joined())</ul>\n</section>\n"
    }

    private func excerpt(of issue: ManifestIssue, _ excerpts: Excerpts) -> String {
        guard issue.severity == .error, let (line, indentation) = excerpts.lines(for: issue) else { return "" }
        return "<pre>\(HTML.escaped(line))\n\(indentation)^</pre>"
    }

    /// The first card of the entry that an issue is about: of the last one that begins before it.
    private func target(of issue: ManifestIssue) -> String? {
        guard !issue.isAboutTheWhole else { return nil }
        let entries = check.entries
        // They are in the order of the file.
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            let isBefore = (entries[middle].line, entries[middle].column) <= (issue.line, issue.column)
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : anchors[entries[low - 1]]
    }

    /// Shown by the script; without it all cards are there and nothing filters them.
    private var filter: String {
        let kinds = FileKind.allCases.compactMap { kind in
            let shown = cards.filter { $0.kind == kind }
            // A file that several URLs name ships once.
            let sizes = Dictionary(shown.map { ($0.substitution.file, $0.substitution.size) }) { first, _ in first }
            let size = ByteCount(sizes.values.reduce(0, +))
            return shown.isEmpty ? nil : choice(kind.rawValue, "\(kind.title) \(shown.count) · \(size)")
        }
        return """
            <form class="filter" hidden>
            <label>Find <input type="search" autocomplete="off" placeholder="URL, file or type"></label>
            <fieldset><legend>Kind</legend>\(choice("all", "All \(cards.count)", checked: true))\(kinds.joined())</fieldset>
            <label>Order <select name="order"><option value="manifest">as in the manifest<option value="size">largest \
            first</select></label>
            <output></output>
            </form>

            """
    }

    private func choice(_ value: String, _ label: String, checked: Bool = false) -> String {
        "<label><input type=\"radio\" name=\"kind\" value=\"\(value)\"\(checked ? " checked" : "")>\(label)</label>"
    }

    // MARK: - Addresses

    /// The way from one folder to another, ending in "/".
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

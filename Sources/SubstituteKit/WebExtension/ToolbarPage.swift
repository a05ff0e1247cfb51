import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionRules

/// The page of the extension's toolbar button.
///
/// The page contains a switch, the list of substitutions, and the list of URLs that the extension does not substitute.
struct ToolbarPage {
    /// One row in the page's list of substitutions.
    struct ListedURL {
        let substitution: Substitution
        /// The copy's address in the extension, percent-encoded.
        let address: String
    }

    let name: String
    let rows: [ListedURL]
    let left: [Ruleset.Omission]

    var html: String {
        """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>What is substituted: \(HTML.escaped(name))</title>
        <link rel="stylesheet" href="toolbar.css">
        <header>
        <label class="switch"><input type="checkbox" id="switch" disabled> <b>Show the app's files</b></label>
        <input type="search" id="search" placeholder="Filter" aria-label="Filter" autocomplete="off">
        <p>\(counted(rows.count, "URL")) · \(HTML.escaped(name))<output id="count"></output></p>
        </header>
        \(leftList)<ul id="rows">
        \(rows.map(html).joined())</ul>
        <script src="toolbar.js"></script>
        </html>

        """
    }

    private func html(_ row: ListedURL) -> String {
        let substitution = row.substitution
        let isImage = FileKind(substitution.type) == .image
        let sample =
            isImage
            ? "<img loading=\"lazy\" decoding=\"async\" alt=\"\" src=\"\(row.address)\">"
            : HTML.escaped(String((substitution.type.fileExtension ?? "…").prefix(5)))
        return """
            <li><a href="\(row.address)" target="_blank"><span class="show">\(sample)</span></a>
            <div><p class="url">\(HTML.breakable(substitution.url))</p>
            <p>\(HTML.breakable(substitution.file)) · \(ByteCount(substitution.size)) · line \(substitution.line)</p></div></li>

            """
    }

    /// The list of the URLs that the extension does not substitute, with the reasons.
    private var leftList: String {
        if left.isEmpty { return "" }
        let items = left.map { omission in
            "<li><p class=\"url\">\(HTML.breakable(omission.url))</p><p>line \(omission.line): "
                + "\(HTML.escaped(omission.reason))</p></li>\n"
        }
        return
            "<details><summary>Left to the network: \(counted(left.count, "case"))</summary>\n<ul>\n\(items.joined())</ul>\n"
            + "</details>\n"
    }
}

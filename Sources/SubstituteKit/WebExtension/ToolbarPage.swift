import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionRules
import SubstitutionStandards

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

    static let style = """
        :root { color-scheme: light dark; --paper: #f6f4ef; --ink: #20242c; --quiet: #5b626d; --line: #ddd8cc; --check: #e9e6df; }
        @media (prefers-color-scheme: dark) {
          :root { --paper: #111318; --ink: #eceef2; --quiet: #9aa2ae; --line: #2d323d; --check: #22262f; }
        }
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        body { margin: 0; width: 26rem; max-width: 100%; min-height: 20rem; background: var(--paper); color: var(--ink);
          font: 13px/1.4 system-ui, "DejaVu Sans", sans-serif; }
        header { position: sticky; top: 0; z-index: 1; display: grid; grid-template-columns: 1fr 9rem; gap: .5rem .8rem;
          align-items: center; padding: .8rem 1rem .6rem; background: var(--paper); border-bottom: 1px solid var(--line); }
        header p { grid-column: 1 / -1; margin: 0; color: var(--quiet); overflow-wrap: anywhere; }
        header output { float: right; }
        .switch { display: flex; align-items: center; gap: .5rem; font-size: 1rem; }
        .switch input { width: 1.1rem; height: 1.1rem; margin: 0; accent-color: #1d5fbf; }
        #search { padding: .3rem .5rem; border: 1px solid var(--line); border-radius: 6px; background: transparent;
          color: inherit; font: inherit; }
        #search::placeholder { color: var(--quiet); opacity: 1; }
        ul { margin: 0; padding: 0; list-style: none; }
        li { padding: .5rem 1rem; border-bottom: 1px solid var(--line); }
        #rows li { display: grid; grid-template-columns: 4rem 1fr; gap: .8rem; align-items: center;
          content-visibility: auto; contain-intrinsic-size: auto 4rem; }
        li p { margin: 0; color: var(--quiet); overflow-wrap: anywhere; }
        li .url { color: var(--ink); font-weight: 600; }
        .show { display: flex; align-items: center; justify-content: center; width: 4rem; height: 3rem; overflow: hidden;
          border-radius: 6px; color: var(--quiet);
          background: repeating-conic-gradient(var(--check) 0 25%, transparent 0 50%) 0 0 / 12px 12px; }
        .show img { width: 100%; height: 100%; object-fit: scale-down; }
        .show.transparent img { width: 50%; padding: 3px; background: #fff; }
        .show.transparent img + img { background: #15171c; }
        #rows a { color: inherit; text-decoration: none; }
        summary { padding: .6rem 1rem; border-bottom: 1px solid var(--line); color: var(--quiet); cursor: pointer; }
        .off #rows { opacity: .4; }

        """

    static let script = """
        // Chromium, Firefox and Safari all provide this API under the name chrome.
        const rules = chrome.declarativeNetRequest;
        const box = document.getElementById("switch");
        const search = document.getElementById("search");
        const count = document.getElementById("count");
        const rows = [...document.querySelectorAll("#rows li")].map(element =>
          ({ element, text: element.textContent.toLowerCase() }));

        async function show() {
          box.checked = (await rules.getEnabledRulesets()).includes("substitutions");
          document.body.classList.toggle("off", !box.checked);
          box.disabled = false;
        }

        box.addEventListener("change", async () => {
          box.disabled = true;
          const ids = ["substitutions"];
          await rules.updateEnabledRulesets(box.checked ? { enableRulesetIds: ids } : { disableRulesetIds: ids });
          await show();
          // Reload the active tab, so that it shows the change.
          chrome.tabs.reload({ bypassCache: true });
        });

        search.addEventListener("input", () => {
          const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
          let shown = 0;
          for (const row of rows) {
            row.element.hidden = !words.every(word => row.text.includes(word));
            if (!row.element.hidden) shown += 1;
          }
          count.textContent = shown === rows.length ? "" : `${shown} shown`;
        });

        \(PictureScript.isTransparent)
        for (const image of document.querySelectorAll("#rows img")) {
          // Show a transparent image on white and on black, so that it is visible on at least one of the two.
          const look = () => {
            if (!isTransparent(image)) return;
            image.parentElement.classList.add("transparent");
            image.after(image.cloneNode());
          };
          if (image.complete) look(); else image.addEventListener("load", look, { once: true });
        }

        show();

        """
}

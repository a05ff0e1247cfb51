import SubstituteCheckKit

/// An editor that can open a file at a line through a URL.
///
/// Each URL scheme is documented by the editor's vendor. Xcode is missing, because no URL scheme is documented for it.
enum PreviewEditor: String, CaseIterable {
    case code = "VS Code"
    case insiders = "VS Code Insiders"
    case textMate = "TextMate"

    /// The URL template, with the placeholders `{path}`, `{line}` and `{column}`.
    ///
    /// The path is absolute and percent-encoded.
    private var address: String {
        switch self {
        // https://code.visualstudio.com/docs/configure/command-line#_opening-vs-code-with-urls
        case .code: "vscode://file{path}:{line}:{column}"
        case .insiders: "vscode-insiders://file{path}:{line}:{column}"
        // https://macromates.com/blog/2007/the-textmate-url-scheme/
        case .textMate: "txmt://open?url=file://{path}&line={line}&column={column}"
        }
    }

    /// The editors for the page's menu.
    static var all: [JSONObject] { allCases.map { ["name": $0.rawValue, "address": $0.address] } }
}

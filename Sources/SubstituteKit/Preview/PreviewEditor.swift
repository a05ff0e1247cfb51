/// An editor that opens a line of a file by a URL.
///
/// The URL of each is documented by its makers; Xcode has none that is.
enum PreviewEditor: String, CaseIterable {
    case code = "VS Code"
    case insiders = "VS Code Insiders"
    case textMate = "TextMate"

    /// The URL, with names in braces for the percent-encoded absolute path, the line and the column.
    var address: String {
        switch self {
        // https://code.visualstudio.com/docs/configure/command-line#_opening-vs-code-with-urls
        case .code: "vscode://file{path}:{line}:{column}"
        case .insiders: "vscode-insiders://file{path}:{line}:{column}"
        // https://macromates.com/blog/2007/the-textmate-url-scheme/
        case .textMate: "txmt://open?url=file://{path}&line={line}&column={column}"
        }
    }

    /// The list to choose from, with nothing chosen.
    static var choice: String {
        let options = allCases.map { "<option value=\"\(HTML.escaped($0.address))\">\($0.rawValue)" }
        return """
            <label>Lines open in <select name="editor"><option value="">no editor\(options.joined())</select></label>

            """
    }
}

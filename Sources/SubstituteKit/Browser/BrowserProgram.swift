import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// An installed browser that the DevTools protocol can drive: Chrome, Chromium, Edge or Brave.
struct BrowserProgram: Equatable {
    let path: String

    static let option = Option("browser", value: "path") { $0 }

    /// The program names under which Linux packages install browsers.
    private static let names = [
        "google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "microsoft-edge-stable",
        "microsoft-edge", "brave-browser", "brave",
    ]

    /// The names of the macOS apps, in `/Applications` or in the `Applications` folder of the home folder.
    // From the browsers' own documentation; not tested on macOS.
    private static let apps = ["Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser"]

    /// Finds the browser that the user named, or the first one that is installed.
    ///
    /// - Parameters:
    ///   - named: The value of `--browser`: a path, or a name to look up in `PATH`.
    ///   - console: Provides the environment variables, and the folder that a path is relative to.
    /// - Returns: A program that exists.
    /// - Throws: ``ToolError`` if there is no such program; the error's message lists what was searched for.
    static func find(_ named: String?, _ console: Console) throws(ToolError) -> BrowserProgram {
        if let named { return try find(named, by: "--browser", console) }
        if let named = console.environment["SUBSTITUTE_BROWSER"], !named.isEmpty {
            return try find(named, by: "SUBSTITUTE_BROWSER", console)
        }
        // The sandbox of a snap or flatpak denies the browser access to the profile in the tool's folder.
        var confined: [String] = []
        for path in candidates(console) where isProgram(path) {
            guard isConfined(path) else { return BrowserProgram(path: path) }
            confined.append(path)
        }
        let reason =
            confined.isEmpty ? "" : "; \(confined.joined(separator: ", ")) is a snap or flatpak, which cannot be used"
        throw ToolError(
            "there is no browser that can be used\(reason). Looked for \(names.joined(separator: ", ")) in "
                + "PATH, and on a Mac for \(apps.joined(separator: ", ")) in Applications. Install one, or name one with "
                + "--browser PATH or SUBSTITUTE_BROWSER"
        )
    }

    private static func find(_ named: String, by what: String, _ console: Console) throws(ToolError) -> BrowserProgram {
        var paths = named.contains("/") ? [console.folder.url(named).path] : inPath(named, console)
        // A macOS app is a folder, and the program in it has the app's name.
        if let app = paths.first, app.hasSuffix(".app") {
            let name = URL(fileURLWithPath: app).deletingPathExtension().lastPathComponent
            paths.append("\(app)/Contents/MacOS/\(name)")
        }
        guard let path = paths.first(where: isProgram) else {
            throw ToolError("\(what) names \(quoted(named)), which is not a program")
        }
        if isConfined(path) {
            throw ToolError("\(what) names \(quoted(named)), a snap or flatpak, which cannot be used; name another")
        }
        return BrowserProgram(path: path)
    }

    /// Returns every path at which a browser may be installed, in the order in which they are tried.
    private static func candidates(_ console: Console) -> [String] {
        let home = console.environment["HOME", default: ""]
        let folders = ["/Applications", home + "/Applications"]
        return names.flatMap { inPath($0, console) }
            + folders.flatMap { folder in apps.map { "\(folder)/\($0).app/Contents/MacOS/\($0)" } }
    }

    private static func inPath(_ name: String, _ console: Console) -> [String] {
        let path = console.environment["PATH", default: ""]
        return path.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
    }

    private static func isProgram(_ path: String) -> Bool {
        FileSystem.kind(of: URL(fileURLWithPath: path).resolvingSymlinksInPath().path) == .typeRegular
            && access(path, X_OK) == 0
    }

    /// Returns true if a path is a link to the launcher of snaps, or a script that starts a snap or a flatpak.
    private static func isConfined(_ path: String) -> Bool {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        if path.hasPrefix("/snap/") || target.hasSuffix("/snap") { return true }
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: 4096) else {
            return false
        }
        let text = String(decoding: data, as: UTF8.self)
        return text.hasPrefix("#!") && (text.contains("/snap/bin/") || text.contains("flatpak run"))
    }
}

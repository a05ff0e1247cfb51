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
        let variable = console.environment["SUBSTITUTE_BROWSER", default: ""]
        let named = named ?? (variable.isEmpty ? nil : variable)
        let found = (named.map { paths(of: $0, console) } ?? candidates(console)).filter(isProgram)
        // The sandbox of a snap or flatpak denies the browser access to the profile in the tool's folder.
        if let path = found.first(where: { !isConfined($0) }) { return BrowserProgram(path: path) }
        let confined =
            found.isEmpty ? "" : "; \(found.joined(separator: ", ")) is a snap or flatpak, which cannot be used"
        if let named {
            throw ToolError("\(quoted(named)), which --browser or SUBSTITUTE_BROWSER names, is no program\(confined)")
        }
        throw ToolError(
            "there is no browser that can be used\(confined). Looked for \(names.joined(separator: ", ")) in "
                + "PATH, and on a Mac for \(apps.joined(separator: ", ")) in Applications. Install one, or name one with "
                + "--browser PATH or SUBSTITUTE_BROWSER"
        )
    }

    /// Returns the paths that a path or the name of a program may mean.
    private static func paths(of name: String, _ console: Console) -> [String] {
        let paths = name.contains("/") ? [console.folder.url(name).path] : inPath(name, console)
        // A macOS app is a folder, and the program in it has the app's name.
        let apps = paths.filter { $0.hasSuffix(".app") }.map { app in
            "\(app)/Contents/MacOS/\(URL(fileURLWithPath: app).deletingPathExtension().lastPathComponent)"
        }
        return paths + apps
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

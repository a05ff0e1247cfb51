import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A folder with an HTML page of the results, and with the page's images.
struct VerificationReport {
    private let folder: URL
    private let name: String

    /// Creates the folder if it does not exist.
    ///
    /// - Throws: ``ToolError`` if the folder cannot be created, or if it contains a file that is not part of a report,
    ///   or a page that was edited. The user's files are thus never replaced.
    init(at path: String, _ console: Console) throws(ToolError) {
        (folder, name) = (console.folder.url(path), path)
        let names = console.folder.names(in: path)
        let page = try? Data(contentsOf: console.folder.url(path).appendingPathComponent("index.html"))
        // Without its page, a folder is not a report: pictures may have the names of a report's by chance.
        let isReport = page.map(Seal.isIntact) ?? false
        if let other = names.first(where: { !Self.isOwn($0) || !isReport && $0 != ".DS_Store" }) {
            throw ToolError(
                "\(quoted(path)) holds \(quoted(other)), which no report wrote, or which was edited since; "
                    + "name another folder"
            )
        }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw ToolError("\(quoted(path)) cannot be created: \(FileSystem.reason(error))")
        }
    }

    private static func isOwn(_ name: String) -> Bool {
        name == "index.html" || name == ".DS_Store" || name.wholeMatch(of: pictureName) != nil
    }

    nonisolated(unsafe) private static let pictureName = /\d+-(?:network|files|difference)\.png/

    /// Replaces an earlier run's page and images by an empty page.
    func clear() throws(ToolError) {
        try change {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where Self.isOwn(name) {
                try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
            }
        }
        // With a page, the folder of an interrupted run is still a report.
        try write(html: "<!doctype html><title>This report is not complete</title>\n")
    }

    /// Writes the images for one page; pages are numbered from 1.
    func write(_ page: Verification, number: Int) throws(ToolError) {
        guard let (network, files) = page.pictures else { return }
        let all = ["network": network, "files": files, "difference": page.comparison.picture]
        let pictures = page.comparison.count == 0 ? ["files": files] : all
        try change {
            for (kind, text) in pictures {
                let file = folder.appendingPathComponent("\(number)-\(kind).png")
                try (Data(base64Encoded: text) ?? Data()).write(to: file)
            }
        }
    }

    /// Writes the page that shows the results and the images.
    func write(html: String) throws(ToolError) {
        let page = Seal.sealed(Data(html.utf8), "<!-- ", " -->\n")
        try change { try page.write(to: folder.appendingPathComponent("index.html")) }
    }

    private func change(_ body: () throws -> Void) throws(ToolError) {
        do {
            try body()
        } catch {
            throw ToolError("\(quoted(name)) cannot be written: \(FileSystem.reason(error))")
        }
    }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A folder with a page that shows what was found, and the pictures beside it.
struct VerificationReport {
    private let folder: URL
    private let name: String

    /// Makes the folder unless it is there.
    ///
    /// - Throws: ``ToolError`` when that is not possible, or something else lies in it: nothing of somebody's is
    ///   replaced.
    init(at path: String, _ console: Console) throws(ToolError) {
        (folder, name) = (console.folder.url(path), path)
        let others = console.folder.names(in: path).filter { !Self.isOwn($0) }
        guard others.isEmpty else {
            throw ToolError("\(quoted(path)) holds \(quoted(others[0])), which is no report's; name another folder")
        }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw ToolError("\(quoted(path)) cannot be made: \(FileSystem.reason(error))")
        }
    }

    private static func isOwn(_ name: String) -> Bool {
        name == "index.html" || name == ".DS_Store" || name.wholeMatch(of: pictureName) != nil
    }

    nonisolated(unsafe) private static let pictureName = /\d+-(?:network|files|difference)\.png/

    /// Writes the page and its pictures, in place of those of an earlier run.
    func write(_ pages: [Verification], _ limits: VerificationLimits) throws(ToolError) {
        do {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where Self.isOwn(name) {
                try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
            }
            for (number, page) in pages.enumerated() {
                let pictures = [
                    "network": page.pictures.network, "files": page.pictures.files,
                    "difference": page.comparison.picture,
                ]
                for (kind, text) in pictures {
                    let file = folder.appendingPathComponent("\(number + 1)-\(kind).png")
                    try (Data(base64Encoded: text) ?? Data()).write(to: file)
                }
            }
            let html = VerificationPage(pages: pages, limits: limits).html
            try Data(html.utf8).write(to: folder.appendingPathComponent("index.html"))
        } catch {
            throw ToolError("\(quoted(name)) cannot be written: \(FileSystem.reason(error))")
        }
    }
}

import Foundation

/// A folder that contains only `libPageRules.so`.
///
/// WebKit loads all files in this folder into the process of the pages.
enum PageRulesFolder {
    static let path = Result { () throws -> String in
        // The library is beside the program or beside the test bundle.
        let places = [
            Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
        ]
        guard
            let library = places.map({ $0.appendingPathComponent("libPageRules.so") }).first(where: {
                FileManager.default.fileExists(atPath: $0.path)
            })
        else { throw BrowserError("libPageRules.so is not beside the program; build the whole package first") }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("PageRules-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: library, to: folder.appendingPathComponent("libPageRules.so"))
        return folder.path
    }
}

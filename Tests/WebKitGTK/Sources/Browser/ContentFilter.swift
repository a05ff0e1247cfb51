import CWebKitGTK
import Foundation

/// WebKit's compiler for content rules; Apple platforms use the same compiler.
enum ContentFilter {
    /// Compiles regular expressions as the triggers of rules.
    ///
    /// - Parameter expressions: The expressions that a web extension would use as `regexFilter`.
    /// - Throws: ``BrowserError`` with WebKit's reason if WebKit refuses an expression.
    static func compile(_ expressions: [String]) async throws {
        let rules = expressions.map { ["trigger": ["url-filter": $0], "action": ["type": "block"]] }
        let json = try JSONEncoder().encode(rules)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Filters-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await GTKThread.perform {}
        let problem: String? = await withCheckedContinuation { continuation in
            GTKThread.post {
                let bytes = json.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
                let done: GAsyncReadyCallback = { source, result, data in
                    let finish = Box<String?>.take(data)
                    var error: UnsafeMutablePointer<GError>?
                    let store: UnsafeMutablePointer<WebKitUserContentFilterStore>? = source.map { cast($0) }
                    let filter = webkit_user_content_filter_store_save_finish(store, result, &error)
                    finish(filter == nil ? message(error) : nil)
                }
                let box = Box<String?> { continuation.resume(returning: $0) }.retained
                let store = webkit_user_content_filter_store_new(folder.path)
                webkit_user_content_filter_store_save(store, "rules", bytes, nil, done, box)
                g_bytes_unref(bytes)
            }
        }
        if let problem { throw BrowserError(problem) }
    }
}

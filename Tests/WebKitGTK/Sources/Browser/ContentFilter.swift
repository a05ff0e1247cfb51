import CWebKitGTK
import Foundation

/// WebKit's compiler for content rules; Apple platforms use the same compiler.
enum ContentFilter {
    /// Compiles regular expressions as the triggers of rules.
    ///
    /// - Parameter expressions: The expressions that a web extension would use as `regexFilter`.
    /// - Throws: ``BrowserError`` with WebKit's reason if WebKit refuses an expression.
    static func compile(_ expressions: [String]) async throws {
        struct Rule: Encodable {
            let trigger: [String: String]
            var action = ["type": "block"]
        }
        let rules = expressions.map { Rule(trigger: ["url-filter": $0]) }
        let json = try JSONEncoder().encode(rules)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Filters-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let problem: String? = try await withCheckedThrowingContinuation { continuation in
            Task {
                try await GTKThread.perform {
                    let store = webkit_user_content_filter_store_new(folder.path)
                    let bytes = json.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
                    webkit_user_content_filter_store_save(
                        store,
                        "rules",
                        bytes,
                        nil,
                        { source, result, data in
                            let finish = Box<String?>.take(data)
                            var error: UnsafeMutablePointer<GError>?
                            let store = source.map { UnsafeMutableRawPointer($0) }.map { OpaquePointer($0) }
                            let filter = webkit_user_content_filter_store_save_finish(
                                store.map { UnsafeMutablePointer($0) },
                                result,
                                &error
                            )
                            finish(filter == nil ? message(error) : nil)
                        },
                        Box<String?> { continuation.resume(returning: $0) }.retained
                    )
                    g_bytes_unref(bytes)
                }
            }
        }
        if let problem { throw BrowserError(problem) }
    }
}

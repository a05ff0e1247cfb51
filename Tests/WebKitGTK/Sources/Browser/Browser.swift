import CWebKitGTK
import Foundation
import FoundationNetworking
@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

/// A web view of WebKitGTK; a closure such as `SchemeServer.reply` answers its requests to mirrors.
///
/// A mirror is a URL with the prefix `substitution-` before its scheme.
final class Browser: Sendable {
    // The view is only used on GTK's thread.
    private nonisolated(unsafe) let view: UnsafeMutablePointer<WebKitWebView>

    /// Opens a view with its own storage.
    ///
    /// - Parameters:
    ///   - expressions: Regular expressions for URLs. In a page that is not a mirror, requests for these URLs are
    ///     redirected to mirrors.
    ///   - proxy: The URL of a proxy for all hosts except `localhost`, its subdomains and 127.0.0.1.
    ///   - answer: Returns the reply to a request to a mirror.
    /// - Throws: ``BrowserError`` if there is no display.
    init(
        expressions: [String] = [],
        proxy: String? = nil,
        answering answer: @escaping @Sendable (URLRequest) -> SchemeReply
    ) async throws {
        let bridge = SchemeBridge(answer)
        let folder = expressions.isEmpty ? nil : try PageRulesFolder.path.get()
        view = try await GTKThread.perform {
            guard let context = webkit_web_context_new_ephemeral() else { throw BrowserError("there is no context") }
            if let folder {
                webkit_web_context_set_web_extensions_directory(context, folder)
                let strings = expressions.map { strdup($0) }
                defer { strings.forEach { free($0) } }
                var pointers = strings.map { UnsafePointer($0) }
                let list = g_variant_new_strv(&pointers, pointers.count)
                webkit_web_context_set_web_extensions_initialization_user_data(context, list)
            }
            bridge.register(in: context)
            guard let widget = webkit_web_view_new_with_context(context),
                let window = gtk_window_new(GTK_WINDOW_TOPLEVEL)
            else { throw BrowserError("there is no view") }
            gtk_window_set_default_size(cast(window), 1000, 1200)
            gtk_container_add(cast(window), widget)
            gtk_widget_show_all(window)
            let view: UnsafeMutablePointer<WebKitWebView> = cast(widget)
            let manager = webkit_web_context_get_website_data_manager(context)
            webkit_website_data_manager_set_tls_errors_policy(manager, WEBKIT_TLS_ERRORS_POLICY_IGNORE)
            if let proxy {
                let hosts: [String] = ["localhost", "*.localhost", "127.0.0.1"]
                let local = hosts.map { strdup($0) }
                defer { local.forEach { free($0) } }
                var ignored = local.map { UnsafePointer($0) } + [nil]
                let settings = webkit_network_proxy_settings_new(proxy, &ignored)
                defer { webkit_network_proxy_settings_free(settings) }
                let mode = WEBKIT_NETWORK_PROXY_MODE_CUSTOM
                webkit_website_data_manager_set_network_proxy_settings(manager, mode, settings)
            }
            let settings = webkit_web_view_get_settings(view)
            // To print the page's console messages, set the environment variable CONSOLE.
            let isPrinted = ProcessInfo.processInfo.environment["CONSOLE"] != nil
            webkit_settings_set_enable_write_console_messages_to_stdout(settings, isPrinted ? 1 : 0)
            nonisolated(unsafe) let result = view
            return Unchecked(result)
        }.value
    }

    /// Loads a page, and waits until the page and all its resources are loaded.
    ///
    /// - Throws: ``BrowserError`` if the load fails.
    func load(_ url: String) async throws {
        let problem: String? = await withCheckedContinuation { continuation in
            GTKThread.post {
                Loading(self.view) { continuation.resume(returning: $0) }.connect()
                webkit_web_view_load_uri(self.view, url)
            }
        }
        if let problem { throw BrowserError(problem) }
    }

    /// Begins to load a page, without waiting for it.
    func begin(_ url: String) async throws {
        try await GTKThread.perform { webkit_web_view_load_uri(self.view, url) }
    }

    /// Runs the body of an asynchronous JavaScript function in the page, and returns the function's result as text.
    func evaluate(_ body: String) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            GTKThread.post {
                let done: GAsyncReadyCallback = { source, result, data in
                    let finish = Box<Result<String, any Error>>.take(data)
                    var error: UnsafeMutablePointer<GError>?
                    let view: UnsafeMutablePointer<WebKitWebView>? = source.map { cast($0) }
                    let value = webkit_web_view_call_async_javascript_function_finish(view, result, &error)
                    guard let value else { return finish(.failure(BrowserError(message(error)))) }
                    finish(.success(jsc_value_to_string(value).map { String(cString: $0) } ?? ""))
                }
                let box = Box { continuation.resume(with: $0) }.retained
                webkit_web_view_call_async_javascript_function(self.view, body, -1, nil, nil, nil, nil, done, box)
            }
        }
    }

    /// Takes a snapshot of the whole page, as PNG.
    func picture() async throws -> Data {
        let path = NSTemporaryDirectory() + "/\(UUID().uuidString).png"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let isWritten: Bool = try await withCheckedThrowingContinuation { continuation in
            GTKThread.post {
                let done: GAsyncReadyCallback = { source, result, data in
                    let finish = Box<(OpaquePointer?, String)>.take(data)
                    var error: UnsafeMutablePointer<GError>?
                    let view: UnsafeMutablePointer<WebKitWebView>? = source.map { cast($0) }
                    finish((webkit_web_view_get_snapshot_finish(view, result, &error), message(error)))
                }
                let box = Box<(OpaquePointer?, String)> { surface, problem in
                    guard let surface else { return continuation.resume(throwing: BrowserError(problem)) }
                    let status = cairo_surface_write_to_png(surface, path)
                    cairo_surface_destroy(surface)
                    continuation.resume(returning: status == CAIRO_STATUS_SUCCESS)
                }.retained
                let (region, options) = (WEBKIT_SNAPSHOT_REGION_FULL_DOCUMENT, WEBKIT_SNAPSHOT_OPTIONS_NONE)
                webkit_web_view_get_snapshot(self.view, region, options, nil, done, box)
            }
        }
        guard isWritten else { throw BrowserError("the picture cannot be written") }
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }
}

/// Waits for the end of one load.
private final class Loading {
    private let view: UnsafeMutablePointer<WebKitWebView>
    private let finish: (String?) -> Void
    private var problem: String?
    private var signals: [gulong] = []

    init(_ view: UnsafeMutablePointer<WebKitWebView>, _ finish: @escaping (String?) -> Void) {
        (self.view, self.finish) = (view, finish)
    }

    func connect() {
        let changed: @convention(c) (OpaquePointer, WebKitLoadEvent, UnsafeMutableRawPointer) -> Void = {
            if $1 == WEBKIT_LOAD_FINISHED { Unmanaged<Loading>.fromOpaque($2).takeUnretainedValue().end() }
        }
        let failed:
            @convention(c) (
                OpaquePointer, WebKitLoadEvent, UnsafePointer<CChar>, UnsafeMutablePointer<GError>,
                UnsafeMutableRawPointer
            ) -> gboolean = { _, _, url, error, data in
                let loading = Unmanaged<Loading>.fromOpaque(data).takeUnretainedValue()
                loading.problem = "\(String(cString: url)): \(String(cString: error.pointee.message))"
                return 1
            }
        let data = Unmanaged.passRetained(self).toOpaque()
        let callbacks = [
            ("load-changed", unsafeBitCast(changed, to: GCallback.self)),
            ("load-failed", unsafeBitCast(failed, to: GCallback.self)),
        ]
        signals = callbacks.map { g_signal_connect_data(view, $0, $1, data, nil, GConnectFlags(0)) }
    }

    private func end() {
        for signal in signals { g_signal_handler_disconnect(view, signal) }
        finish(problem)
        Unmanaged.passUnretained(self).release()
    }
}

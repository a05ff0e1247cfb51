// This code has not run on an Apple platform yet. It is typechecked, and runs on Linux against a fake WebKit. Some
// SDKs for tvOS and watchOS have a module named WebKit, but no web views.
#if canImport(WebKit) && !os(watchOS) && !os(tvOS)
import WebKit

/// A handler for the URL schemes of mirrors; many views can share one handler.
///
/// The schemes are `substitution-https` and `substitution-http`.
@MainActor
final class SchemeHandler: NSObject, @MainActor WKURLSchemeHandler {
    /// A task and its state.
    ///
    /// The task is retained until its end, so that no second task can have the same `ObjectIdentifier` meanwhile.
    private final class ActiveLoad {
        let task: any WKURLSchemeTask
        var state = SchemeTaskState()
        var reading: Task<Void, Never>?
        init(_ task: any WKURLSchemeTask) { self.task = task }
    }

    private let server: SchemeServer
    private var loads: [ObjectIdentifier: ActiveLoad] = [:]

    init(_ server: SchemeServer) { self.server = server }

    func webView(_ webView: WKWebView, start task: any WKURLSchemeTask) {
        let (request, load) = (task.request, ActiveLoad(task))
        loads[ObjectIdentifier(task)] = load
        let reply =
            PageProbe.reply(to: request)
            ?? server.reply(to: request) { @MainActor [weak webView] in
                guard let webView else { return nil }
                return await CookieStore(webView.configuration.websiteDataStore).cookies()
            }
        if let (response, data) = reply.immediate {
            deliver(.response(response), to: load)
            if !data.isEmpty { deliver(.data(data), to: load) }
            return finish(load)
        }
        load.reading = Task { [weak self] in
            do {
                for try await element in reply { self?.deliver(element, to: load) }
                self?.finish(load)
            } catch {
                self?.finish(load, error)
            }
        }
    }

    func webView(_ webView: WKWebView, stop task: any WKURLSchemeTask) {
        let load = loads.removeValue(forKey: ObjectIdentifier(task))
        load?.state.stop()
        load?.reading?.cancel()
    }

    private func deliver(_ element: SchemeReply.Element, to load: ActiveLoad) {
        switch element {
        case .response(let response): if load.state.allows(.response) { load.task.didReceive(response) }
        case .data(let data): if load.state.allows(.data) { load.task.didReceive(data) }
        }
    }

    private func finish(_ load: ActiveLoad, _ error: (any Error)? = nil) {
        guard load.state.allows(error == nil ? .finish : .fail) else { return }
        // WebKit never stops a task that has ended, so no other code removes the load. Remove the load before
        // calling `didFailWithError` or `didFinish`: after that call, WebKit has released the task.
        loads[ObjectIdentifier(load.task)] = nil
        if let error { load.task.didFailWithError(error) } else { load.task.didFinish() }
    }
}

/// The cookies in a data store, for all views that use the store.
@MainActor
final class CookieStore {
    private let data: WKWebsiteDataStore
    private var store: WKHTTPCookieStore { data.httpCookieStore }
    init(_ data: WKWebsiteDataStore) { self.data = data }

    func cookies() async -> PageCookies? {
        await withCheckedContinuation { done in
            store.getAllCookies { cookies in
                done.resume(returning: PageCookies(cookies) { set in Task { @MainActor in self.change(set) } })
            }
        }
    }

    private func change(_ cookies: [HTTPCookie]) {
        for cookie in cookies {
            if cookie.hasExpired { store.delete(cookie) } else { store.setCookie(cookie, completionHandler: nil) }
        }
    }
}
#endif

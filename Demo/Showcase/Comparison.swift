import DemoSite
import Foundation
import LoopbackServer

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Shows the page in a browser, with and without the library.
///
/// A browser has no access to this process's cache. `server` therefore loads the remote site's resources with two
/// sessions of this process. Paths below `/network/` are loaded with a session that does not use the library, and paths
/// below `/app/` with a session that uses it.
struct Comparison {
    let server: LoopbackServer

    init(of site: Site) throws {
        // On macOS, this is not always the top folder of the resource bundle.
        let resources = Bundle.module.resourceURL ?? Bundle.module.bundleURL
        let page = try Data(contentsOf: resources.appendingPathComponent("compare.html"))
        let gateways = [
            "network": Gateway(site, URLSession(configuration: .ephemeral)), "app": Gateway(site, .shared),
        ]
        server = try LoopbackServer { request in
            let parts = request.target.dropFirst().split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            let rest = parts.count > 1 ? String(parts[1]) : ""
            switch (request.path, gateways[String(parts[0])]) {
            case ("/", _):
                return LoopbackServer.Response(headers: ["Content-Type": "text/html; charset=utf-8"], body: page)
            case ("/counts/network", _), ("/counts/app", _):
                return gateways[rest]?.counts() ?? .text("", status: 404)
            case (_, let gateway?) where parts.count > 1:
                return gateway.load(rest)
            default:
                return .text("There is no \(request.path)\n", status: 404)
            }
        }
    }
}

/// Loads resources of the remote site with one session.
// Mutable state is only accessed inside the lock.
private final class Gateway: @unchecked Sendable {
    private let site: Site
    private let session: URLSession
    private let lock = NSLock()
    private var loads = 0
    private var requests = 0

    init(_ site: Site, _ session: URLSession) {
        self.site = site
        self.session = session
    }

    /// Loads a resource, and waits for it.
    ///
    /// A load of the page itself first resets the numbers of loads and requests to zero.
    func load(_ path: String) -> LoopbackServer.Response {
        guard let url = URL(string: site.page.absoluteString + path) else { return .text("", status: 400) }
        let answer = LoadResult()
        session.dataTask(with: url) { body, response, error in answer.set(body, response, error) }.resume()
        answer.wait()
        lock.withLock {
            if path.isEmpty { (loads, requests) = (0, 0) }
            loads += 1
            if answer.reachedServer { requests += 1 }
        }
        return answer.response
    }

    func counts() -> LoopbackServer.Response {
        let (loads, requests) = lock.withLock { (self.loads, self.requests) }
        return LoopbackServer.Response(
            headers: ["Content-Type": "application/json"],
            body: Data(#"{"loads":\#(loads),"requests":\#(requests)}"#.utf8)
        )
    }
}

/// The result of a load, passed from the session's queue to the thread that waits for it.
// The properties are written before the semaphore is signalled, and read afterwards.
private final class LoadResult: @unchecked Sendable {
    private(set) var response = LoopbackServer.Response.text("", status: 502)
    private(set) var reachedServer = false
    private let done = DispatchSemaphore(value: 0)

    func wait() { done.wait() }

    func set(_ body: Data?, _ response: URLResponse?, _ error: (any Error)?) {
        defer { done.signal() }
        guard let head = response as? HTTPURLResponse, let body else {
            self.response = .text("\(error?.localizedDescription ?? "no answer")\n", status: 502)
            return
        }
        var headers: [String: String] = ["Cache-Control": "no-store"]
        for name in ["Content-Type", "Cache-Status"] { headers[name] = head.value(forHTTPHeaderField: name) }
        // If a file answers after an error status, `Cache-Status` contains that status: the request reached the server.
        reachedServer = headers["Cache-Status"].map { $0.contains("fwd-status=") } ?? true
        self.response = LoopbackServer.Response(status: head.statusCode, headers: headers, body: body)
    }
}

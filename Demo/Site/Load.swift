package import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// One resource that was loaded.
package struct MeasuredLoad {
    package let url: URL
    package let response: HTTPURLResponse
    package let body: Data
    package let milliseconds: Double

    /// Loads one resource.
    package init(_ url: URL, in session: URLSession) async throws {
        let start = DispatchTime.now()
        let (body, response) = try await session.data(from: url)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        milliseconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e6
        (self.url, self.response, self.body) = (url, response, body)
    }

    /// Loads a page, and every resource that the page refers to.
    package static func page(_ url: URL, in session: URLSession) async throws -> [MeasuredLoad] {
        let page = try await MeasuredLoad(url, in: session)
        var loads = [page]
        for reference in references(in: page.body) {
            guard let url = URL(string: reference, relativeTo: url)?.absoluteURL else { continue }
            loads.append(try await MeasuredLoad(url, in: session))
        }
        return loads
    }

    /// Returns the distinct values of `src` and `href` in the order of the page.
    private static func references(in page: Data) -> [String] {
        let html = String(decoding: page, as: UTF8.self)
        var references: [String] = []
        for match in html.matches(of: /(?:src|href)="([^"]+)"/) where !references.contains(String(match.1)) {
            references.append(String(match.1))
        }
        return references
    }

    /// The source of the response, according to its header fields.
    package var answerer: String {
        let words = (response.value(forHTTPHeaderField: "Cache-Status") ?? "").components(separatedBy: "; ")
        guard words[0] == "LocalSubstitutionCache" else { return "network" }
        if words.contains("hit") { return "bundle" }
        if let status = words.first(where: { $0.hasPrefix("fwd-status=") })?.dropFirst("fwd-status=".count) {
            return "bundle, after \(status)"
        }
        // Without a status, the detail ends in the reason, such as (offline).
        return "bundle, " + (words.last?.split(separator: "(").last?.prefix { $0 != ")" } ?? "")
    }

    /// The path and the query.
    package var resource: String {
        url.path + (url.path.isEmpty ? "/" : "") + (url.query.map { "?\($0)" } ?? "")
    }
}

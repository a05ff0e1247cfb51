import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One resource that was loaded, as a row of the Demo's table.
struct MeasuredLoad {
    let url: URL
    let response: HTTPURLResponse
    let body: Data
    let milliseconds: Double

    /// Loads one resource.
    init(_ url: URL, in session: URLSession) async throws {
        let start = DispatchTime.now()
        let (body, response) = try await session.data(from: url)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        milliseconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e6
        (self.url, self.response, self.body) = (url, response, body)
    }

    /// Loads a page, and every resource that the page refers to.
    static func page(_ url: URL, in session: URLSession) async throws -> [MeasuredLoad] {
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
    var answerer: String {
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
    var resource: String {
        url.path + (url.path.isEmpty ? "/" : "") + (url.query.map { "?\($0)" } ?? "")
    }

    /// The load's row in the table: one string for each column.
    var row: [String] {
        [
            resource, answerer, String(response.statusCode),
            response.value(forHTTPHeaderField: "Content-Type") ?? "", String(body.count),
            String(format: "%.1f ms", milliseconds),
        ]
    }

    static let header = ["resource", "answered by", "status", "media type", "bytes", "time"]

    /// Returns the loads as a table with a header; numbers are aligned to the right.
    static func table(_ loads: [MeasuredLoad]) -> String {
        let rows = [header] + loads.map(\.row)
        let widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            let cells = zip(row, widths).enumerated().map { column, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 2 || column > 3 ? space + cell.0 : cell.0 + space
            }
            return "  " + cells.joined(separator: "  ")
        }
        return lines.joined(separator: "\n")
    }
}

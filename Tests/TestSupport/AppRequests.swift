import Foundation
package import LoopbackServer

/// A request, and the answer that an app with a manifest gets.
///
/// One test asks URL loading, and another asks the tool's browser. Both must get the answers of this table.
package struct AppRequest: CustomStringConvertible, Sendable {
    package let method: String
    /// The URL; HERE and THERE are two servers, and GONE is a server that cannot be reached.
    private let address: String
    package let fields: [String: String]
    /// The status with the answering file, or with the path that the network answered.
    package let answer: String

    private init(_ method: String, _ address: String, _ fields: [String: String], _ answer: String) {
        (self.method, self.address, self.fields, self.answer) = (method, address, fields, answer)
    }

    package var description: String { "\(method) \(address) \(fields)" }

    package func url(_ hosts: Hosts) -> String { hosts.filled(address) }

    package struct Hosts: Sendable {
        let here: String
        let there: String
        package let gone: String

        package init(here: String, there: String, gone: String) {
            (self.here, self.there, self.gone) = (here, there, gone)
        }

        func filled(_ text: String) -> String {
            text.replacingOccurrences(of: "THERE", with: there).replacingOccurrences(of: "HERE", with: here)
                .replacingOccurrences(of: "GONE", with: gone)
        }

        package var manifest: String { filled(AppRequest.manifest) }
    }

    // MARK: - The table

    package static let files = [
        "a.txt", "moved.txt", "q.txt", "list.txt", "exact.txt", "old.txt", "offline.txt", "w404.txt", "w5xx.txt",
        "w418.txt", "wgone.txt", "dir/sub+name.txt",
    ]

    private static let manifest = """
        {
          "HERE/a.txt": "a.txt", "HERE/moved.txt": "moved.txt", "HERE/exact.txt?x=1": "exact.txt", "HERE/dir/": "dir/",
          "HERE/q.txt": { "file": "q.txt", "ignoreQuery": true },
          "HERE/list.txt": { "file": "list.txt", "ignoreQuery": ["v"] },
          "HERE/old.txt": { "file": "old.txt", "until": "2020-01-01" },
          "GONE/offline.txt": { "file": "offline.txt", "when": "offline" },
          "HERE/404/w.txt": { "file": "w404.txt", "when": 404 },
          "HERE/503/w.txt": { "file": "w5xx.txt", "when": "5xx" },
          "HERE/200/w.txt": { "file": "w404.txt", "when": [404, "offline"] },
          "HERE/500/w.txt": { "file": "w404.txt", "when": 404 },
          "HERE/to-a/w.txt": { "file": "w418.txt", "when": 418 },
          "HERE/to-404/w.txt": { "file": "w404.txt", "when": 404 },
          "HERE/to-when/w.txt": { "file": "w418.txt", "when": 418 },
          "HERE/to-plain/w.txt": { "file": "w418.txt", "when": 418 },
          "HERE/to-moved/w.txt": { "file": "w418.txt", "when": 418 },
          "HERE/to-gone/w.txt": { "file": "wgone.txt", "when": "offline" }
        }

        """

    package static let all: [AppRequest] = {
        let text = "HERE/a.txt"
        var list = ["GET", "HEAD"].map { AppRequest($0, text, "200 file a.txt") }
        list += ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"].map { AppRequest($0, text, "200 network /a.txt") }
        list += [
            ["Range": "bytes=99-100"], ["Range": "bytes=0-1,3-4"], ["Range": "lines=0-1"],
            ["Range": "bytes=1-2", "If-Range": "\"x\""], ["If-None-Match": "\"x\""], ["If-None-Match": "*"],
            ["If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"], ["Cache-Control": "no-cache"],
            ["Cache-Control": "no-store"], ["Pragma": "no-cache"], ["Authorization": "Bearer x"], ["Cookie": "a=b"],
        ].map { AppRequest("GET", text, $0, "200 file a.txt") }
        list += [AppRequest("GET", text, ["Range": "bytes=1-2"], "206 file a.txt")]
        // After a redirect, the library is not asked.
        list += [301, 302, 303, 307, 308].map { AppRequest("GET", "HERE/\($0)/to-a", "200 network /a.txt") }
        list += [
            ("HEAD", "HERE/302/to-a", "200 network /a.txt"), ("POST", "HERE/303/to-a", "200 network /a.txt"),
            ("GET", "HERE/302/to-to-a", "200 network /a.txt"), ("GET", "THERE/302/to-a", "200 network /a.txt"),
            ("GET", "HERE/302/to-there", "200 network /b.txt"), ("GET", "HERE/302/to-404", "404 network /404/w.txt"),
            ("GET", "HERE/moved.txt", "200 file moved.txt"), ("POST", "HERE/moved.txt", "200 network /plain.txt"),
            // Spellings, queries, folders and dates.
            ("GET", "HERE/%61.txt", "200 file a.txt"), ("GET", "HERE/x/../a.txt", "200 file a.txt"),
            ("GET", "HERE/a.txt#part", "200 file a.txt"), ("GET", "HERE/A.txt", "200 network /A.txt"),
            ("GET", "HERE/a.txt?", "200 network /a.txt"), ("GET", "HERE/a.txt/", "200 network /a.txt/"),
            ("GET", "HERE/q.txt?any=1", "200 file q.txt"), ("GET", "HERE/list.txt?v=1", "200 file list.txt"),
            ("GET", "HERE/list.txt?v=1&w=2", "200 network /list.txt"),
            ("GET", "HERE/exact.txt?x=1", "200 file exact.txt"),
            ("GET", "HERE/exact.txt?x=2", "200 network /exact.txt"),
            ("GET", "HERE/dir/sub%2Bname.txt", "200 file dir/sub+name.txt"),
            ("GET", "HERE/old.txt", "200 network /old.txt"),
            // Network-first entries.
            ("GET", "GONE/offline.txt", "200 file offline.txt"), ("GET", "HERE/404/w.txt", "200 file w404.txt"),
            ("HEAD", "HERE/404/w.txt", "200 file w404.txt"), ("POST", "HERE/404/w.txt", "404 network /404/w.txt"),
            ("GET", "HERE/503/w.txt", "200 file w5xx.txt"), ("GET", "HERE/200/w.txt", "200 network /200/w.txt"),
            ("GET", "HERE/500/w.txt", "500 network /500/w.txt"), ("GET", "HERE/to-a/w.txt", "200 file a.txt"),
            ("GET", "HERE/to-404/w.txt", "200 file w404.txt"), ("GET", "HERE/to-when/w.txt", "200 file w5xx.txt"),
            ("GET", "HERE/to-plain/w.txt", "200 network /plain.txt"),
            ("GET", "HERE/to-moved/w.txt", "200 network /plain.txt"),
            ("GET", "HERE/to-gone/w.txt", "200 file wgone.txt"),
        ].map { AppRequest($0, $1, $2) }
        list += [AppRequest("GET", "HERE/404/w.txt", ["Range": "bytes=1-2"], "200 file w404.txt")]
        return list
    }()

    private init(_ method: String, _ address: String, _ answer: String) { self.init(method, address, [:], answer) }

    // MARK: - Servers

    /// Returns what both servers answer.
    ///
    /// `Location` holds a whole URL, because Foundation on Linux resolves relative ones incorrectly.
    package static func respond(_ path: String, _ hosts: Hosts) -> LoopbackServer.Response {
        let targets = [
            "to-a": "HERE/a.txt", "to-to-a": "HERE/302/to-a", "to-there": "THERE/b.txt", "to-404": "HERE/404/w.txt",
            "moved.txt": "HERE/plain.txt",
        ]
        let first = [
            "to-a": "HERE/a.txt", "to-404": "HERE/404/plain.txt", "to-when": "HERE/503/w.txt",
            "to-plain": "HERE/plain.txt", "to-moved": "HERE/moved.txt", "to-gone": "GONE/x.txt",
        ]
        let parts = path.split(separator: "/").map(String.init)
        let status = parts.first.flatMap { Int($0) }
        if let target = parts.last.flatMap({ targets[$0] }) ?? parts.first.flatMap({ first[$0] }) {
            return LoopbackServer.Response(status: status ?? 302, headers: ["Location": hosts.filled(target)])
        }
        return LoopbackServer.Response(status: status ?? 200, headers: ["X-Path": path], body: Data("network".utf8))
    }

    /// Returns who answered, in the words of the table.
    package static func answer(status: Int, _ field: (String) -> String?) -> String {
        guard let cache = field("Cache-Status") else { return "\(status) network \(field("X-Path") ?? "?")" }
        let file = cache.components(separatedBy: "detail=\"").last?.prefix { $0 != "\"" && $0 != " " } ?? ""
        return "\(status) file \(file)"
    }
}

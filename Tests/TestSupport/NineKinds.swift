package import Foundation
package import LoopbackServer

/// A page that loads nine kinds of resources, on a server that counts, and the files of an app that has them.
///
/// The page says in its title who answered each. Where there is WebKit, `.ci/apple` shows it.
package final class NineKinds: Sendable {
    package let server: LoopbackServer
    /// Holds `manifest.json` and its files.
    package let folder: TemporaryFolder

    /// Paths of what reached the server, each once, but for the page.
    package var requests: [String] {
        Set(server.requests.map(\.path)).filter { !["/page", "/schemes", "/favicon.ico"].contains($0) }.sorted()
    }

    /// The page's address.
    package var page: URL { server.url.appendingPathComponent("page") }

    /// The address of a page that names a picture of the other scheme, for mirrors.
    package var schemes: URL { server.url.appendingPathComponent("schemes") }

    /// Starts the server.
    ///
    /// - Parameter fixtures: The folder with the page and its fonts.
    /// - Throws: What keeps it from being started.
    package init(fixtures: URL) throws {
        let pages = [
            "/page": try Data(contentsOf: fixtures.appendingPathComponent("nine.html")),
            "/schemes": try Data(contentsOf: fixtures.appendingPathComponent("schemes.html")),
        ]
        let remote = try Self.files("network", fixtures)
        server = try LoopbackServer { request in
            if let html = pages[request.path] { return .init(headers: ["Content-Type": "text/html"], body: html) }
            guard let file = remote[request.path] else { return .text("", status: 404) }
            return .init(headers: ["Content-Type": file.type], body: file.data)
        }
        folder = try TemporaryFolder()
        for (path, file) in try Self.files("bundle", fixtures) { try folder.write(file.data, to: "files\(path)") }
        let base = server.url.absoluteString.dropFirst("http:".count)
        try folder.write(#"{ "\#(base)/": "files/" }"#, to: "manifest.json")
    }

    deinit { server.stop() }

    private static func files(_ who: String, _ fixtures: URL) throws -> [String: (type: String, data: Data)] {
        let side = who == "bundle" ? 22 : 11
        let font = try Data(contentsOf: fixtures.appendingPathComponent("\(who).woff2"))
        let picture = "<svg xmlns='http://www.w3.org/2000/svg' width='\(side)' height='\(side)'/>"
        return [
            "/nine/picture.svg": ("image/svg+xml", Data(picture.utf8)),
            "/nine/site.css": ("text/css", Data(":root { --who: \(who) }".utf8)),
            "/nine/font.woff2": ("font/woff2", font),
            "/nine/script.js": ("text/javascript", Data("globalThis.script = '\(who)'".utf8)),
            "/nine/module.js": ("text/javascript", Data("globalThis.module = '\(who)'; export {};".utf8)),
            "/nine/fetch.txt": ("text/plain", Data(who.utf8)), "/nine/request.txt": ("text/plain", Data(who.utf8)),
            "/nine/sound.wav": ("audio/wav", silence(seconds: who == "bundle" ? 2 : 1)),
            "/nine/worker.js": ("text/javascript", Data("postMessage('\(who)')".utf8)),
        ]
    }

    /// 8 bits, 8 kHz.
    package static func silence(seconds: Int) -> Data {
        let count = UInt32(8000 * seconds)
        var data = Data("RIFF".utf8)
        func append(_ numbers: [UInt32]) {
            for number in numbers { withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) } }
        }
        append([36 + count])
        data += Data("WAVEfmt ".utf8)
        append([16, 1 << 16 | 1, 8000, 8000, 8 << 16 | 1])
        data += Data("data".utf8)
        append([count])
        return data + Data(repeating: 0x80, count: Int(count))
    }
}

package import Foundation
package import LoopbackServer

/// A page with nine kinds of resources, a server that records requests, and an app's files for these resources.
///
/// The page's title names the source of each resource: the network or the bundle. On systems with WebKit, `.ci/apple`
/// shows the page.
package final class NineKinds: Sendable {
    package let server: LoopbackServer
    /// The folder that contains `manifest.json` and its files.
    package let folder: TemporaryFolder

    /// The different paths that were requested from the server, except the paths of the pages and the icon.
    package var requests: [String] {
        Set(server.requests.map(\.path)).filter { !["/page", "/schemes", "/favicon.ico"].contains($0) }.sorted()
    }

    /// The page's address.
    package var page: URL { server.url.appendingPathComponent("page") }

    /// The address of a page that loads one picture.
    ///
    /// On an http mirror, the page loads the picture from the https mirror of the same host. On an https mirror, it
    /// loads the picture from the http mirror.
    package var schemes: URL { server.url.appendingPathComponent("schemes") }

    /// Starts the server.
    ///
    /// - Parameter fixtures: The folder with the page and its fonts.
    /// - Throws: An error if the server cannot be started.
    package init(fixtures: URL) throws {
        let pages = try ["/page": "nine", "/schemes": "schemes"].mapValues {
            try Data(contentsOf: fixtures.appendingPathComponent("\($0).html"))
        }
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

    /// Returns a WAV file of silence, with 8 bits per sample at 8 kHz.
    package static func silence(seconds: Int) -> Data {
        let count = UInt32(8000 * seconds)
        func bytes(_ numbers: [UInt32]) -> Data {
            Data(numbers.flatMap { number in [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) } })
        }
        let format: [UInt32] = [16, 1 << 16 | 1, 8000, 8000, 8 << 16 | 1]
        let parts = [Data("RIFF".utf8), bytes([36 + count]), Data("WAVEfmt ".utf8), bytes(format), Data("data".utf8)]
        return Data((parts + [bytes([count]), Data(repeating: 0x80, count: Int(count))]).joined())
    }
}

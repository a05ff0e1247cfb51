import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import LoopbackServer

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Measurements of a whole data task.
struct Sessions {
    let stopwatch: Stopwatch
    let batch: Int

    func rows() throws -> [MeasuredRow] {
        let fixture = try Fixture(count: 10, size: 20_000)
        let body = try Data(contentsOf: fixture.folder.appendingPathComponent("file0.png"))
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(
                headers: ["Content-Type": "image/png", "Cache-Control": "max-age=3600"],
                body: body
            )
        }
        defer { server.stop() }
        let nginx = Nginx(serving: fixture.folder)
        defer { nginx?.stop() }
        let cache = try fixture.cache()
        cache.install()
        let stock = URLSessionConfiguration.ephemeral
        stock.urlCache = makeStockCache(cache, fixture.urls)
        let throughCache = URLSessionConfiguration.ephemeral
        throughCache.urlCache = cache
        let throughProtocol = URLSessionConfiguration.ephemeral
        throughProtocol.useSubstitutions()
        let urls = fixture.urls
        let remote = (0..<10).map { (nginx?.url ?? server.url).appendingPathComponent("file\($0).png") }
        let baselines: (Double) -> [(Contender, MeasuredRow.Target?)] = { target in
            let server = nginx == nil ? "LoopbackServer" : "nginx"
            return [
                (contender("stock", stock, urls), .atLeast(target)),
                (contender(server, .ephemeral, remote), .atLeast(5)),
            ]
        }
        return stopwatch.rows(
            "data task, cache",
            contender("cache", throughCache, urls),
            against: baselines(1)
        )
            + stopwatch.rows(
                "data task, protocol",
                contender("protocol", throughProtocol, urls),
                against: baselines(1.3)
            )
            + stopwatch.rows(
                "the same, recorded",
                recorded(cache, to: fixture.folder.appendingPathComponent("app.har"), throughProtocol, urls),
                against: [(contender("not recorded", throughProtocol, urls), .atMost(1.5))]
            )
    }

    /// Records as many loads in a quick run as in a whole one, because the file is written once, at their end.
    private func recorded(
        _ cache: SubstitutionCache,
        to file: URL,
        _ configuration: URLSessionConfiguration,
        _ urls: [URL]
    ) -> Contender {
        let plain = Sessions(stopwatch: stopwatch, batch: 20).contender("recorded", configuration, urls)
        return Contender(plain.name, count: plain.count) {
            let recording = try? cache.record(to: file)
            plain.run()
            try? recording?.stop()
        }
    }

    private func contender(_ name: String, _ configuration: URLSessionConfiguration, _ urls: [URL]) -> Contender {
        let session = URLSession(configuration: configuration)
        return Contender(name, count: batch * urls.count) {
            for _ in 0..<batch {
                for url in urls {
                    let done = DispatchSemaphore(value: 0)
                    session.dataTask(with: url) { data, _, _ in
                        if data?.count != 20_000 { fatalError("\(name) answered with something else") }
                        done.signal()
                    }.resume()
                    done.wait()
                }
            }
        }
    }
}

/// An nginx server, if nginx is installed on this machine.
private final class Nginx {
    let url: URL
    private let process = Process()
    private let folder: URL

    init?(serving files: URL) {
        let folders = ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        guard let program = folders.map({ "\($0)/nginx" }).first(where: FileManager.default.isExecutableFile),
            let port = try? LoopbackServer({ _ in .text("") }).freedPort,
            let url = URL(string: "http://127.0.0.1:\(port)")
        else { return nil }
        self.url = url
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("Benchmarks-" + UUID().uuidString)
        let configuration = """
            \(geteuid() == 0 ? "user root;" : "") daemon off; pid nginx.pid; error_log error.log; worker_processes 1;
            events { worker_connections 512; }
            http {
                access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi; scgi_temp_path scgi; sendfile on; tcp_nodelay on;
                types { image/png png; }
                server { listen 127.0.0.1:\(port); root \(files.path); }
            }
            """
        let file = folder.appendingPathComponent("nginx.conf")
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["-p", folder.path, "-c", "nginx.conf", "-e", "error.log"]
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(configuration.utf8).write(to: file)
            try process.run()
        } catch {
            return nil
        }
        // The server needs a moment before it listens.
        for _ in 0..<200 {
            if (try? Data(contentsOf: url.appendingPathComponent("file0.png")))?.count == 20_000 { return }
            usleep(10_000)
        }
        stop()
        return nil
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }
}

extension LoopbackServer {
    /// Stops the server, and returns the port that it had.
    fileprivate var freedPort: Int {
        stop()
        return url.port ?? 0
    }
}

// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
package import Foundation
import LoopbackServer

/// An nginx server on 127.0.0.1, for tests that need a real web server.
// Only the test that creates an instance accesses its process.
package final class Nginx: @unchecked Sendable {
    package static let program = Program.find("nginx")

    package let url: URL
    private let process = Process()
    private let folder: TemporaryFolder

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - locations: The content of the `server` block; `PORT` is replaced by the port.
    ///   - files: The files to serve, keyed by their paths below `/`.
    ///   - host: The host name in a self-signed certificate for https; nil to serve http.
    /// - Throws: An error if the server cannot be started.
    package init(_ locations: String, files: [String: Data], securing host: String? = nil) async throws {
        folder = try TemporaryFolder()
        if let host { try await Self.makeCertificate(for: host, in: folder.url) }
        let tls = host == nil ? "" : "ssl_certificate certificate.pem; ssl_certificate_key key.pem;"
        for (name, data) in files { try folder.write(data, to: "html/\(name)") }
        // nginx cannot choose a free port itself. If the port is not free yet, nginx tries again.
        let server = try LoopbackServer { _ in .text("") }
        server.stop()
        let port = server.url.port ?? 0
        let user = getuid() == 0 ? "user root;" : ""
        let configuration = """
            \(user) daemon off; pid nginx.pid; error_log error.log; worker_processes 1;
            events { worker_connections 512; }
            http {
                access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi; scgi_temp_path scgi; absolute_redirect off;
                server { listen 127.0.0.1:\(port)\(host == nil ? "" : " ssl"); \(tls) root html; \(locations.replacingOccurrences(of: "PORT", with: "\(port)")) }
            }
            """
        try folder.write(configuration, to: "nginx.conf")
        url = URL(string: host.map { "https://\($0):\(port)" } ?? "http://127.0.0.1:\(port)") ?? folder.url
        process.executableURL = URL(fileURLWithPath: Self.program ?? "nginx")
        process.arguments = ["-p", folder.url.path, "-c", "nginx.conf", "-e", "error.log"]
        try process.run()
        // nginx writes this file as soon as it listens.
        let file = folder.url.appendingPathComponent("nginx.pid").path
        try await wait(for: "nginx") { FileManager.default.fileExists(atPath: file) }
    }

    /// Adds a file, or replaces it with another version.
    package func write(_ data: Data, to name: String) throws { try folder.write(data, to: "html/\(name)") }

    package func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    private static func makeCertificate(for host: String, in folder: URL) async throws {
        let words = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "2", "-subj", "/CN=\(host)", "-keyout", "key.pem", "-out", "certificate.pem",
        ]
        guard try await Program.run("/usr/bin/env", words, in: folder).status == 0 else { throw POSIXError(.ENOENT) }
    }
}
#endif

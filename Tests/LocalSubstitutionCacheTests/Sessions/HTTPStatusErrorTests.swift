import Foundation
import LoopbackServer
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

@Suite("Statuses that are not accepted", .serialized)
struct HTTPStatusErrorTests {
    private let session = URLSession(configuration: .ephemeral)

    /// Runs a test with a server that answers with the status in the path, such as `/404`, and with a message.
    private func withServer(_ test: (URL) async throws -> Void) async throws {
        let server = try LoopbackServer { request in
            let status = Int(request.path.dropFirst()) ?? 200
            return .text("{\"message\":\"\(status)\"}", status: status)
        }
        defer { server.stop() }
        try await test(server.url)
    }

    @Test("A 2xx returns its body and its head", arguments: [200, 201, 206])
    func accepted(status: Int) async throws {
        try await withServer { url in
            let request = URLRequest(url: url.appendingPathComponent("\(status)"))
            let (data, response) = try await session.validatedData(for: request)
            #expect(data == Data("{\"message\":\"\(status)\"}".utf8))
            #expect(response.statusCode == status)
        }
    }

    @Test(
        "Every other status throws an error that carries the head and the body",
        arguments: [400, 403, 404, 422, 500, 503]
    )
    func refused(status: Int) async throws {
        try await withServer { url in
            let request = URLRequest(url: url.appendingPathComponent("\(status)"))
            let error = await #expect(throws: HTTPStatusError.self) {
                _ = try await session.validatedData(for: request)
            }
            #expect(error?.status == status)
            #expect(error?.body == Data("{\"message\":\"\(status)\"}".utf8))
            #expect(error?.response.value(forHTTPHeaderField: "Content-Type") == "text/plain; charset=utf-8")
            #expect(error?.localizedDescription == "The server answered with status \(status) for \(url)/\(status).")
        }
    }

    @Test("The app may accept other statuses")
    func others() async throws {
        try await withServer { url in
            let missing = URLRequest(url: url.appendingPathComponent("404"))
            let (_, response) = try await session.validatedData(for: missing) { $0 == 404 }
            #expect(response.statusCode == 404)
            let fine = URLRequest(url: url.appendingPathComponent("200"))
            await #expect(throws: HTTPStatusError.self) { _ = try await session.validatedData(for: fine) { $0 == 404 } }
        }
    }

    @Test("The error's sentence does not contain the URL's password")
    func password() throws {
        let url = try #require(URL(string: "https://me:secret@example.com/a?b"))
        let response = HTTPURLResponse(url: url, statusCode: 404, httpVersion: nil, headerFields: nil)
        let error = HTTPStatusError(response: try #require(response), body: Data())
        #expect(error.description == "The server answered with status 404 for https://example.com/a?b.")
    }

    @Test("A failed load throws the usual error")
    func nothing() async throws {
        let request = URLRequest(url: try #require(URL(string: "http://nobody.invalid/")))
        await #expect(throws: URLError.self) { _ = try await session.validatedData(for: request) }
    }
}

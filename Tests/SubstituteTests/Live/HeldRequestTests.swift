import Foundation
import Testing

@testable import SubstituteKit

@Suite("Requests that a browser holds")
struct HeldRequestTests {
    @Test(
        "A response has a body unless its method or status says otherwise (RFC 9110 §6.4.1), or it never ends",
        arguments: [
            ("GET", 200, "text/css", true), ("POST", 404, "text/html", true), ("HEAD", 200, "text/css", false),
            ("GET", 204, "text/css", false), ("GET", 304, "text/css", false), ("GET", 302, "text/html", false),
            ("GET", 200, "text/event-stream; charset=utf-8", false), ("GET", 200, "multipart/x-mixed-replace", false),
        ]
    )
    func body(method: String, status: Int, type: String, hasBody: Bool) async throws {
        let location = status == 302 ? #", { "name": "Location", "value": "/" }"# : ""
        let held = try held(method, status, #"{ "name": "Content-Type", "value": "\#(type)" }\#(location)"#)
        #expect(held.hasBody == hasBody)
        #expect(await held.bytes { "AAAA" }?.count == (hasBody ? 3 : nil))
    }

    @Test("Only the redirect statuses of Fetch §2.2.6 with `Location` are redirects")
    func redirect() throws {
        let location = #"{ "name": "Location", "value": "/" }"#
        #expect(try (200..<500).filter { try held("GET", $0, location).isRedirect } == [301, 302, 303, 307, 308])
        #expect(try !held("GET", 302, "").isRedirect)
    }

    /// Returns a held request with a response; `fields` are elements of a JSON array.
    private func held(_ method: String, _ status: Int, _ fields: String) throws -> HeldRequest {
        let json = """
            {
                "requestId": "1", "resourceType": "Document", "frameId": "2", "responseStatusCode": \(status),
                "request": { "url": "https://h/", "method": "\(method)", "headers": {} },
                "responseHeaders": [\(fields)]
            }
            """
        return try JSONDecoder().decode(HeldRequest.self, from: Data(json.utf8))
    }
}

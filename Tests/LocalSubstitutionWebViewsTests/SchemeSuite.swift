import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

/// A suite that sends requests to a `SchemeServer` as a browser engine does.
class SchemeSuite: CacheSuite {
    static let page = "substitution-https://example.com/"

    struct Answer {
        let head: HTTPURLResponse
        let body: Data
        let parts: Int

        var status: Int { head.statusCode }
        var text: String { String(decoding: body, as: UTF8.self) }
        subscript(field: String) -> String? { head.value(forHTTPHeaderField: field) }
    }

    /// Creates a request that comes from ``page``; the default is a request for ``page`` itself.
    override func request(
        _ url: String = SchemeSuite.page,
        _ method: String = "GET",
        _ fields: [String: String] = [:],
        policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) throws -> URLRequest {
        var request = try super.request(url, method, fields, policy: policy)
        request.mainDocumentURL = URL(string: Self.page)
        return request
    }

    func request(
        _ url: String,
        _ method: String = "GET",
        from page: String? = SchemeSuite.page,
        _ fields: [String: String] = [:],
        body: Data? = nil
    ) throws -> URLRequest {
        var request = try super.request(url, method, fields)
        request.mainDocumentURL = page.flatMap { URL(string: $0) }
        request.httpBody = body
        // The timeout is long enough for a busy machine.
        request.timeoutInterval = 600
        return request
    }

    /// Reads a reply, and checks that its events have an order that `WKURLSchemeTask` allows.
    func answer(_ reply: SchemeReply) async throws -> Answer {
        var head: HTTPURLResponse?
        var (body, parts) = (Data(), 0)
        var state = SchemeTaskState()
        for try await element in reply {
            switch element {
            case .response(let response):
                let isAllowed = state.allows(.response)
                #expect(isAllowed)
                head = response
            case .data(let data):
                let isAllowed = state.allows(.data)
                #expect(isAllowed && !data.isEmpty && data.count <= SchemeReply.maximumChunkSize)
                body.append(data)
                parts += 1
            }
        }
        let isEnd = state.allows(.finish)
        #expect(isEnd)
        return Answer(head: try #require(head), body: body, parts: parts)
    }

    func answer(_ server: SchemeServer, _ request: URLRequest) async throws -> Answer {
        try await answer(server.reply(to: request))
    }
}

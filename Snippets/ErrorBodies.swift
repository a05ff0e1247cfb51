// Reads the body of an error response, and loads another URL after some errors.

// snippet.hide
import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct Refusal: Error {
    let status: Int
    let reason: String
}

func load(_ request: URLRequest, login: URLRequest, mirror: URLRequest) async throws -> Data {
    // snippet.show
    let (body, response) = try await URLSession.shared.data(for: request)
    switch (response as? HTTPURLResponse)?.statusCode {
    case 403: return try await URLSession.shared.data(for: login).0
    case 503: return try await URLSession.shared.data(for: mirror).0
    case let status? where status >= 400: throw Refusal(status: status, reason: String(decoding: body, as: UTF8.self))
    default: return body
    }
    // snippet.hide
}

_ = load

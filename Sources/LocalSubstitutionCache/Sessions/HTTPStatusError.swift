public import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A response whose status was not accepted, with its body.
///
/// URL loading takes every response for a success; the body of an error, such as the JSON message of a 422, is at hand
/// here:
///
/// ```swift
/// do {
///     return try await URLSession.shared.validatedData(for: request).0
/// } catch let error as HTTPStatusError where error.status == 503 {
///     return try await URLSession.shared.validatedData(for: mirror).0
/// }
/// ```
public struct HTTPStatusError: Error, CustomStringConvertible, LocalizedError {
    /// The head of the response.
    public let response: HTTPURLResponse
    /// The body of the response, as it was received; empty when there was none.
    public let body: Data

    /// The status of the response.
    public var status: Int { response.statusCode }

    /// A sentence with the status and the URL, without a user name or password in it.
    public var description: String {
        var components = response.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }
        components?.user = nil
        components?.password = nil
        return "The server answered with status \(status) for \(visible(components?.string ?? "a request"))."
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension URLSession {
    /// Loads a request, and throws when the status of the response is not an accepted one.
    ///
    /// Redirects are followed before; the status is that of the last response. On Linux the body of a 3xx that was not
    /// followed is empty, because URL loading drops it.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - accepted: Whether a status is accepted; without it those from 200 to 299 are.
    /// - Returns: The body and the head of the response.
    /// - Throws: ``HTTPStatusError`` for every other status; `URLError` when nothing was loaded, or something else than
    ///   a response of HTTP.
    public func validatedData(
        for request: URLRequest,
        accepting accepted: (Int) -> Bool = { (200..<300).contains($0) }
    ) async throws -> (Data, HTTPURLResponse) {
        let (data, response) = try await data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        guard accepted(response.statusCode) else { throw HTTPStatusError(response: response, body: data) }
        return (data, response)
    }
}

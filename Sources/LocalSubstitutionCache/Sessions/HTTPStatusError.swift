public import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// An error for a response whose status was not accepted; it includes the response's body.
///
/// URL loading treats every response as a success. This error has the body of the response, such as the JSON message of
/// a 422:
///
/// ```swift
/// do {
///     return try await URLSession.shared.validatedData(for: request).0
/// } catch let error as HTTPStatusError where error.status == 503 {
///     return try await URLSession.shared.validatedData(for: mirror).0
/// }
/// ```
public struct HTTPStatusError: Error, CustomStringConvertible, LocalizedError {
    /// The response head.
    public let response: HTTPURLResponse
    /// The body of the response, as it was received; empty if the response had no body.
    public let body: Data

    /// The status of the response.
    public var status: Int { response.statusCode }

    /// A sentence with the status and the URL, without the URL's user name and password.
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
    /// Loads a request, and throws if the status of the response is not accepted.
    ///
    /// Redirects are followed first; the status is that of the last response. On Linux the body of a 3xx that was not
    /// followed is empty, because URL loading drops it.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - accepted: Returns true if a status is accepted. By default, 200 to 299 are accepted.
    /// - Returns: The body and the head of the response.
    /// - Throws: ``HTTPStatusError`` if the status is not accepted; `URLError` if the load fails or the response is not
    ///   an HTTP response.
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

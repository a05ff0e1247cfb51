// Reads the body of an error response, and loads another URL after some errors.

// snippet.hide
import Foundation
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

func load(_ request: URLRequest, login: URLRequest, mirror: URLRequest) async throws -> Data {
    // snippet.show
    do {
        return try await URLSession.shared.validatedData(for: request).0
    } catch let error as HTTPStatusError where error.status == 403 {
        return try await URLSession.shared.validatedData(for: login).0
    } catch let error as HTTPStatusError where error.status == 503 {
        return try await URLSession.shared.validatedData(for: mirror).0
    } catch let error as HTTPStatusError {
        print(error, String(decoding: error.body, as: UTF8.self))
        throw error
    }
    // snippet.hide
}

_ = load

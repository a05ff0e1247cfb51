// Loads one request from the network, whatever the manifest says.

// snippet.hide
import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

func load(_ url: URL) async throws -> Data {
    // snippet.show
    var request = URLRequest(url: url)
    request.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
    let (data, _) = try await URLSession.shared.data(for: request)
    // snippet.hide
    return data
}

_ = load

import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache

/// A suite with an archive in a separate folder.
// All properties are constants, but the compiler checks `Sendable` only for final classes.
class ArchiveSuite: @unchecked Sendable {
    let folder: TemporaryFolder
    let archive: OfflineArchive

    init() throws {
        folder = try TemporaryFolder()
        archive = try OfflineArchive(directory: folder.url, capacity: 1_000_000, hosts: ["example.com"])
    }

    /// Returns another archive in the suite's folder.
    func makeArchive(capacity: Int = 1_000_000, hostsWithCredentials: Set<String> = []) throws -> OfflineArchive {
        try OfflineArchive(
            directory: folder.url,
            capacity: capacity,
            hosts: ["example.com"],
            hostsWithCredentials: hostsWithCredentials
        )
    }

    func request(_ path: String, _ headers: [String: String] = [:]) throws -> URLRequest {
        URLRequest(url: try #require(URL(string: "https://example.com/\(path)"))).with(headers)
    }

    func keep(
        _ body: String,
        for request: URLRequest,
        status: Int = 200,
        _ headers: [String: String] = [:],
        in archive: OfflineArchive? = nil
    ) throws {
        let archive = archive ?? self.archive
        try archive.keep(response(to: request, status: status, headers), Data(body.utf8), for: request)
        archive.directory.queue.sync {}
    }

    func response(to request: URLRequest, status: Int = 200, _ headers: [String: String] = [:]) throws
        -> HTTPURLResponse
    {
        let url = try #require(request.url)
        return try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: headers))
    }

    func text(of request: URLRequest, in archive: OfflineArchive? = nil) -> String? {
        (archive ?? self.archive).answer(to: request).map { String(decoding: $0.data, as: UTF8.self) }
    }

    var files: [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []
        return names.map { folder.url.appendingPathComponent($0) }
    }
}

extension OfflineArchive {
    /// Archives a response whose body was received in one part; `meanwhile` runs after the load has begun.
    func keep(_ response: HTTPURLResponse, _ body: Data, for request: URLRequest, meanwhile: () throws -> Void = {})
        throws
    {
        let incoming = IncomingCopy(of: request, version: 0, for: self)
        try meanwhile()
        incoming.receive(response)
        incoming.finish(incoming.hasRoom(for: body.count) ? body : nil)
    }

    /// Returns the copy's response when there is no connection.
    func answer(to request: URLRequest) -> CachedURLResponse? {
        IncomingCopy(of: request, version: 0, for: self).copy(after: .offline)?.response
    }
}

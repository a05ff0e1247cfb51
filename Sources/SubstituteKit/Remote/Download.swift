import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit

/// A resource to load.
struct Download: Sendable {
    let key: URLPattern
    let url: URL
    /// The fields of the request that decide between a server's versions, keyed in lower case.
    let asked: [String: String]

    /// Creates a download.
    ///
    /// - Parameters:
    ///   - key: The key of the resource's entry.
    ///   - url: The URL to load.
    ///   - asked: The fields with which the resource was loaded before; nil to ask as browsers ask for this kind.
    ///   - kind: The kind of the resource, if the URL does not show it.
    init(_ key: URLPattern, _ url: URL, asked: [String: String]?, _ kind: ResourceKind = .document) {
        (self.key, self.url) = (key, url)
        let named = MediaType(fileName: url.path).map { _ in ResourceKind(nil, path: url.path) }
        let userAgent = "substitute/\(libraryVersion)"
        self.asked = asked ?? ["accept": (named ?? kind).accept, "user-agent": userAgent]
    }

    /// Loads resources into the staging folder, a few at a time.
    ///
    /// - Returns: For each download, the resource, or the reason why the download is not complete.
    static func loads(
        _ downloads: [Download],
        _ staging: StagingFolder,
        _ limit: Int?,
        _ network: Network
    ) async -> [Result<Resource, ToolError>] {
        await Fetcher.inParallel(downloads, network) { download, fetcher in
            do {
                let answer = try await download.load(with: fetcher, staging, limit)
                guard answer.status == 200 else { throw ToolError(answer.refusal) }
                return .success(await download.resource(answer, with: fetcher, staging))
            } catch {
                return .failure(error as? ToolError ?? ToolError(error.localizedDescription))
            }
        }
    }

    /// Loads the resource into a new file, unless its server still has the version of the `conditions`.
    func load(
        with fetcher: Fetcher,
        _ staging: StagingFolder,
        _ limit: Int?,
        _ conditions: [String: String] = [:]
    ) async throws -> Fetcher.FetchedResponse {
        let headers = asked.merging(conditions) { $1 }
        return try await fetcher.load(url, headers: headers, to: staging.newFileURL(), limit: limit ?? 1_000_000_000)
    }

    /// Returns the resource that a response has; a second request may decide whether the response is for everybody.
    func resource(
        _ answer: Fetcher.FetchedResponse,
        with fetcher: Fetcher,
        _ staging: StagingFolder
    ) async -> Resource {
        var (sharing, version) = (answer.sharing, answer.version)
        if sharing.isUncertain, let bytes = try? Fingerprint(of: answer.file) {
            sharing.isSameForAll = await fetcher.sends(bytes, at: url, headers: asked, staging.newFileURL())
        }
        version.asked = asked
        return Resource(
            key: key,
            file: answer.file,
            type: answer.type,
            source: answer.url,
            version: version,
            sharing: sharing
        )
    }
}

extension Fetcher.FetchedResponse {
    /// The reason why a response with another status than 200 is not taken, as a clause.
    var refusal: String { "its server answers \(status)\(LoadProblem.status.words(String(status)) ?? "")" }
}

extension CommandOption where Self == Option<Bool> {
    static var discardEdits: Self { Self("discard-edits") }
    static var dryRun: Self { Self("dry-run", short: "n") }
}

extension CommandOption where Self == Option<ByteCount?> {
    static var maxSize: Self { Self("max-size", value: "size", Quantity.size) }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A resource to load.
struct Download: Sendable {
    let key: URLPattern
    let url: URL

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
                return .success(try await download.load(with: fetcher, staging, limit))
            } catch {
                return .failure(error as? ToolError ?? ToolError(error.localizedDescription))
            }
        }
    }

    private func load(with fetcher: Fetcher, _ staging: StagingFolder, _ limit: Int?) async throws -> Resource {
        let file = staging.newFileURL()
        let answer = try await fetcher.load(url, .write(file), limit: limit ?? 1_000_000_000)
        guard answer.status == 200 else { throw ToolError(answer.refusal) }
        var sharing = answer.sharing
        if sharing.isUncertain {
            sharing.isSameForAll = await fetcher.sends(try Fingerprint(of: file, named: "the loaded file"), at: url)
        }
        return Resource(
            key: key,
            file: file,
            type: answer.type,
            source: answer.url,
            version: answer.version,
            sharing: sharing
        )
    }
}

extension Fetcher.FetchedResponse {
    /// The reason why a response with another status than 200 is not taken, as a clause.
    var refusal: String { "its server answers \(status)\(LoadProblem.status.words(String(status)) ?? "")" }
}

extension CommandOption where Self == Option<Bool> {
    static var discardEdits: Self {
        Self("discard-edits")
    }
    static var dryRun: Self { Self("dry-run", short: "n") }
}

extension CommandOption where Self == Option<ByteCount?> {
    static var maxSize: Self {
        Self("max-size", value: "size", Quantity.size)
    }
}

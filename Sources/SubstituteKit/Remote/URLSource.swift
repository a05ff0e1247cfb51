import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The resources at URLs, which are loaded from their servers, and the resources to which these refer.
struct URLSource: ResourceSource {
    static let references = Option("with-references")
    static let alsoHost = HostSelection.option("also-host")

    let isStrict = true
    private let keys: [URLPattern]
    private let (replaces, followsReferences): (Bool, Bool)
    /// The size of the largest file to take; nil for the limit of all loads.
    private let limit: Int?
    private let network: Network
    private var selection: ReferenceSelection
    private var seen: Set<String> = []
    private var round = -1
    /// A sentence about references beyond a limit; nil if none are.
    private var excess: String?

    /// Reads the options of the command line; without `arguments`, references are not followed.
    init(_ keys: [URLPattern], replaces: Bool, _ network: Network, _ arguments: Arguments? = nil, limit: Int? = nil)
        throws
    {
        (self.keys, self.replaces, self.network) = (keys, replaces, network)
        self.limit = try arguments?[.maxSize]?.bytes ?? limit
        followsReferences = arguments?.has(Self.references) ?? false
        selection = ReferenceSelection(try arguments?[Self.alsoHost] ?? HostSelection([]))
    }

    mutating func next(after taken: [Resource], for addition: Addition, in staging: StagingFolder) async
        -> [FoundResource]
    {
        round += 1
        let named = keys.map { ($0, ResourceKind.document) }
        let keys = round == 0 ? named : followsReferences ? references(of: taken) : []
        var found: [FoundResource] = []
        var wanted: [Download] = []
        for (key, kind) in keys where seen.insert(key.identityKey).inserted {
            guard let url = URL(string: key.targetURL) else {
                found.append(FoundResource(key.spelling, refused: "it is not a URL that can be loaded"))
                continue
            }
            switch replaces ? nil : addition.known(key) {
            case nil: wanted.append(Download(key, url, asked: addition.asked(for: key), kind))
            case .refused(let reason):
                found.append(FoundResource(key.spelling, refused: reason))
            default:
                let resource = addition.present(key, url).map(Result<Resource, ToolError>.success)
                found.append(FoundResource(key.spelling, resource))
            }
        }
        for (download, load) in zip(wanted, await Download.loads(wanted, staging, limit, network)) {
            found += self.found(download.key, load, addition)
        }
        return found
    }

    /// Returns what a load has found; for a redirected page, stylesheet or module, also a sentence about that.
    private mutating func found(_ key: URLPattern, _ load: Result<Resource, ToolError>, _ addition: Addition)
        -> [FoundResource]
    {
        guard case .success(var resource) = load else { return [FoundResource(key.spelling, load)] }
        // An entry for the requested URL keeps its key. References resolve against the URL of the response.
        let keepsKey = replaces && addition.known(key) != nil
        guard !keepsKey, let last = try? URLPattern(requested: resource.source.absoluteString),
            last.identityKey != (try? URLPattern(requested: key.targetURL))?.identityKey,
            PageReferences.dependsOnURL(resource)
        else { return [FoundResource(key.spelling, .success(resource))] }
        resource.key = last
        let first = visible(key.spelling)
        let line =
            "redirect \(first) → \(visible(last.spelling)), which the entry names, as relative references resolve "
            + "against it; the network answers requests for \(first)"
            + (last.targetURL.hasSuffix("/") && key.targetURL.hasPrefix(last.targetURL)
                ? "; if its server only forwards missing pages there, remove the entry" : "")
        let note = FoundResource(key.spelling, nil, remarks: [line])
        // This run may add the last URL by itself.
        guard seen.insert(last.identityKey).inserted else { return [note] }
        return [note, FoundResource(last.spelling, .success(resource))]
    }

    /// The maximum number of URLs that one run loads.
    ///
    /// Without this limit, a run might never end: a server can answer each URL with a stylesheet that refers to new
    /// URLs.
    private static let most = 2000

    /// Returns the URLs to which the added pages and stylesheets refer; of references, only stylesheets and frames.
    private mutating func references(of taken: [Resource]) -> [(URLPattern, ResourceKind)] {
        let sources = round == 1 ? taken : taken.filter(PageReferences.isFollowed)
        var keys = sources.flatMap { resource in
            PageReferences.addresses(in: resource).compactMap { address, kind in
                selection.key(for: address, in: resource).map { ($0, kind) }
            }
        }
        keys.removeAll { seen.contains($0.0.identityKey) }
        guard !keys.isEmpty else { return [] }
        if seen.count + keys.count > Self.most {
            excess =
                "\(counted(keys.count, "reference")), because one run loads at most \(Self.most) URLs; add a recording of "
                + "the page instead"
        }
        return excess == nil ? keys : []
    }

    var lines: [String] {
        (excess.map { ["skipped  \($0)"] } ?? []) + (followsReferences ? selection.lines : [])
    }
}

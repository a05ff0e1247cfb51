import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A source of resources for the `add` command: URLs, a recording, or a browser.
protocol ResourceSource {
    /// True if nothing is changed unless all resources of the first round can be added.
    var isStrict: Bool { get }

    /// Finds the next resources.
    ///
    /// - Parameters:
    ///   - taken: The resources of the round before; empty for the first round.
    ///   - addition: The change of the manifest so far.
    ///   - staging: The folder for the resources' files.
    /// - Returns: One round of resources; after a round without any, the run ends.
    /// - Throws: ``ToolError`` if a file cannot be written.
    mutating func next(after taken: [Resource], for addition: Addition, in staging: StagingFolder) async throws
        -> [FoundResource]

    /// Sentences about the whole run, for its end.
    var lines: [String] { get }
}

/// A resource that a source has found, or the reason why there is none.
struct FoundResource {
    /// The URL in reports.
    var url: String
    /// The resource; nil if another round has it.
    var result: Result<Resource, ToolError>?
    /// Sentences about the resource, for the user.
    var remarks: [String]

    init(_ url: String, _ result: Result<Resource, ToolError>?, remarks: [String] = []) {
        (self.url, self.result, self.remarks) = (url, result, remarks)
    }

    /// The resource; nil if it was refused, or if another round has it.
    var resource: Resource? { try? result?.get() }

    /// The length of the body, in bytes.
    var count: Int { (try? resource?.file.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0 }

    /// Creates a resource that is not added, for a reason.
    init(_ url: String, refused reason: String) { self.init(url, .failure(ToolError(reason))) }
}

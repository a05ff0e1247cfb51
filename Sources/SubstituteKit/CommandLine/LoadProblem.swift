import Foundation

/// The words for failed loads, from a resource with a row for each sentence: the sentence, and where it holds.
enum LoadProblem: String {
    /// The rows for words in libcurl's messages.
    ///
    /// On Linux, Foundation lets libcurl decode each body, and has no error code for some problems. Browsers take a
    /// body as it is if they do not know its coding (Fetch Standard, "handle content codings").
    case message
    /// The rows for the codes of Foundation's errors.
    case code
    /// The rows for the beginnings of Chromium's names.
    case browser
    /// The rows for the beginnings of statuses.
    case status

    private static let rows = try? JSONDecoder().decode(
        [String: [[String]]].self,
        from: Data(PackageResources.load_problems_json)
    )

    /// Returns the words for a problem; nil if it has no row.
    func words(_ problem: String) -> String? {
        let row = Self.rows?[rawValue]?.first { row in
            row.dropFirst().contains { self == .message ? problem.contains($0) : problem.hasPrefix($0) }
        }
        return row?.first
    }
}

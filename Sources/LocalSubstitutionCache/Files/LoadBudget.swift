/// The amounts of memory and time that one load of a manifest may still spend.
///
/// A short manifest can name much: several keys may map one large folder, and the response of each of its files repeats
/// the header fields of the entry. Everything that a manifest multiplies is spent from the budget before it is created.
package final class LoadBudget {
    /// A limit on something that a manifest multiplies.
    package struct Limit: Hashable, Sendable {
        package enum Kind: Sendable { case urls, bytes, names }

        package let kind: Kind
        let maximum: Int

        /// Returns the clause about the path with which the manifest exceeds the limit.
        func cause(of path: String) -> String {
            let held = "all of which an app would hold in memory"
            return switch kind {
            case .urls: "with \(path) the manifest maps more than \(maximum) URLs, \(held)"
            case .bytes:
                "with \(path) the manifest's URLs, each with its own header fields, take more than "
                    + "\(maximum / 1_000_000) MB, \(held)"
            case .names: "\(path) and the folders of the entries before it hold more than \(maximum) files"
            }
        }
    }

    private let maximum: [Limit.Kind: Int]
    private var spent: [Limit.Kind: Int] = [:]

    /// Creates the budget for one load.
    ///
    /// - Parameters:
    ///   - urls: The maximum number of URLs; each file of a folder counts, and a `//` key counts twice.
    ///   - bytes: The maximum memory for the texts of all URLs, each with the header fields of its response.
    ///   - names: The maximum number of names that are visited in folders.
    package init(urls: Int = 200_000, bytes: Int = 150_000_000, names: Int = 1_000_000) {
        maximum = [.urls: urls, .bytes: bytes, .names: names]
    }

    /// Spends an amount.
    ///
    /// - Throws: ``FileProblem/exceeds(_:)`` now and on all later calls, if more is spent than the limit allows.
    package func spend(_ amount: Int, of kind: Limit.Kind) throws(FileProblem) {
        let maximum = maximum[kind, default: 0]
        let (sum, overflow) = spent[kind, default: 0].addingReportingOverflow(amount)
        spent[kind] = overflow ? .max : sum
        if overflow || sum > maximum { throw .exceeds(Limit(kind: kind, maximum: maximum)) }
    }
}

/// The amounts of memory and time that one load of a manifest may still spend.
///
/// A short manifest can name much: several keys may map one large folder, and the response of each of its files repeats
/// the header fields of the entry. Everything that a manifest multiplies is spent from the budget before it is created.
package final class LoadBudget {
    /// A limit on something that a manifest multiplies; its raw value is the maximum.
    package enum Limit: Int, Sendable {
        /// The URLs; each file of a folder counts, and a `//` key counts twice.
        case urls = 200_000
        /// The memory for the texts of all URLs, each with the header fields of its response.
        case bytes = 150_000_000
        /// The names that are visited in folders.
        case names = 1_000_000
        /// The bytes of files that are read and not mapped, if a folder did not come with the app.
        case copies = 100_000_000

        /// Returns the clause about the path with which the manifest exceeds the limit.
        func cause(of path: String) -> String {
            let held = "all of which an app would hold in memory"
            return switch self {
            case .urls: "with \(path) the manifest maps more than \(rawValue) URLs, \(held)"
            case .bytes:
                "with \(path) the manifest's URLs, each with its own header fields, take more than "
                    + "\(rawValue / 1_000_000) MB, \(held)"
            case .copies: "with \(path) the files not mapped have more than \(rawValue / 1_000_000) MB, \(held)"
            case .names: "\(path) and the folders of the entries before it hold more than \(rawValue) files"
            }
        }
    }

    private var rest: [Limit: Int]

    /// Creates the budget for one load; tests pass smaller amounts.
    package init(_ amounts: [Limit: Int] = [:]) { rest = amounts }

    /// Spends an amount.
    ///
    /// - Throws: ``FileProblem/exceeds(_:)`` now and on all later calls, if more is spent than the limit allows.
    package func spend(_ amount: Int, of limit: Limit) throws(FileProblem) {
        let left = rest[limit] ?? limit.rawValue
        rest[limit] = amount <= left ? left - amount : -1
        if amount > left { throw .exceeds(limit) }
    }
}

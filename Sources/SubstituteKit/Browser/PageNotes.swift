import SubstituteCheckKit

/// The sentences for the user about the loads of a browser's pages.
///
/// A page may cause any number of dialogs or pop-ups, so each page has a limit for each kind of sentence. A kind that
/// is about the page itself has no limit.
struct PageNotes: Sendable {
    enum Kind: Sendable {
        /// The page itself failed or was not finished, so the command fails.
        case page
        /// The screenshot does not show the whole page, or the page does not stop moving.
        case picture
        case dialog
        case popUp
        case download
        case password

        /// The maximum number of sentences for each page; nil for any number.
        fileprivate var limit: Int? { [.page, .picture].contains(self) ? nil : 5 }

        /// Returns a sentence about further events of this kind.
        fileprivate func sentence(_ count: Int) -> String {
            switch self {
            case .dialog: "\(counted(count, "more dialog")) \(count == 1 ? "was" : "were") closed"
            case .popUp: "\(counted(count, "more pop-up")) \(count == 1 ? "was" : "were") closed"
            case .download: "\(counted(count, "more download")) \(count == 1 ? "was" : "were") refused"
            case .password: "\(counted(count, "more request")) asked for a password"
            case .page, .picture: ""
            }
        }
    }

    private struct Group: Sendable {
        let page: Int
        let kind: Kind
        var sentences: [String] = []
        var further = 0

        var all: [String] { sentences + (further > 0 ? [kind.sentence(further)] : []) }
    }

    private var page = 0
    private var groups: [Group] = []

    /// The sentences of all pages, in order; those of one page and kind stand together.
    var sentences: [String] { groups.flatMap(\.all) }

    /// Sentences about those events of the current page that were only counted.
    var further: [String] { groups.filter { $0.page == page && $0.further > 0 }.map { $0.kind.sentence($0.further) } }

    mutating func beginPage() { page += 1 }

    /// Adds a sentence about the current page.
    ///
    /// - Returns: False if the page has the sentence already, or too many of its kind, in which case it is counted.
    mutating func add(_ sentence: String, _ kind: Kind) -> Bool {
        let index =
            groups.firstIndex { $0.page == page && $0.kind == kind }
            ?? {
                groups.append(Group(page: page, kind: kind))
                return groups.count - 1
            }()
        let isKnown = groups[index].sentences.contains(sentence)
        if let limit = kind.limit, isKnown || groups[index].sentences.count >= limit {
            groups[index].further += 1
            return false
        }
        if isKnown { return false }
        groups[index].sentences.append(sentence)
        return true
    }
}

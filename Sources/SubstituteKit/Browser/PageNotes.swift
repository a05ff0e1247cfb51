import SubstituteCheckKit

/// The sentences for the user about the loads of a browser's pages.
///
/// A page may cause any number of dialogs, pop-ups and downloads, so of these only the first few of a page are kept.
struct PageNotes: Sendable {
    /// The maximum number of events of each page that have a sentence.
    private static let most = 10
    private var count = 0
    private(set) var sentences: [String] = []

    mutating func beginPage() { count = 0 }

    /// Adds a sentence.
    ///
    /// - Parameters:
    ///   - sentence: The sentence.
    ///   - isEvent: True for one of the events of which a page may cause any number.
    /// - Returns: The sentence to print; nil if there is none.
    mutating func add(_ sentence: String, isEvent: Bool) -> String? {
        if sentences.contains(sentence) { return nil }
        if isEvent { count += 1 }
        guard !isEvent || count <= Self.most + 1 else { return nil }
        let note =
            isEvent && count > Self.most
            ? "the page has more dialogs, pop-ups, downloads or requests for a password" : sentence
        sentences.append(note)
        return note
    }
}

/// What a recording tells of a request beyond HAR 1.2: the field `_substitution` of its entry.
package struct RecordedAnswer: Codable, Sendable {
    /// Who answered.
    package enum Answerer: String, Codable, Sendable {
        /// A file of the app.
        case file
        /// The last good copy of an `OfflineArchive`.
        case archive
        /// `URLCache`, with what it had stored; URL loading may have asked the server whether that is still right.
        case cache
        /// The network.
        case network
        /// Nobody: the load was cancelled, failed, or goes on.
        case nobody
    }

    package var answeredBy: Answerer
    /// The path, below the manifest's folder, of the file of the entry that names the URL; nil where none does.
    package var file: String?
    /// The line of the entry.
    package var line: Int?
    /// How often it was answered so.
    package var times = 1
    /// The bytes of all these answers together, as far as they are known.
    package var bytes = 0
    /// Why no file answers, as a sentence; nil where one does.
    package var reason: String?
    /// How the load ended: `cancelled`, `not yet`, or the error; nil for a load that came to its end.
    package var ended: String?
    /// True when the answer may be for one person, so that nobody else should get it.
    package var isPersonal: Bool?

    package init(_ answeredBy: Answerer) { self.answeredBy = answeredBy }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

/// The operands of `explain`: optionally a manifest, then URLs, and files that contain URLs.
struct ExplainOperands {
    /// A request to explain.
    struct Question {
        let url: String
        /// The method of a recorded request; nil for the method from the command line.
        var method: String?
        /// The reason why no command can add a recorded URL, as a sentence; nil if the response is a whole file.
        var obstacle: String?
    }

    /// The content of an operand.
    enum Subject {
        case questions([Question])
        /// The traffic that an app has recorded.
        case traffic(RecordedTraffic, name: String)
    }

    private let folder: CurrentFolder
    /// The manifest; nil if no operand is a manifest.
    let manifest: String?
    /// The other operands; never empty.
    private let words: ArraySlice<String>

    /// Reads the operands.
    ///
    /// The files on disk and their content show whether an operand is a manifest, a recording, a list or a URL.
    init(_ words: [String], in folder: CurrentFolder) throws {
        self.folder = folder
        manifest = try words.first.flatMap { try Self.isManifest($0, in: folder) ? $0 : nil }
        self.words = words.dropFirst(manifest == nil ? 0 : 1)
        if self.words.isEmpty {
            throw UsageError("name a URL, a recording (HAR) or a list of URLs, or - to read one from standard input")
        }
    }

    /// Returns the contents of the operands, in the order of the command line; never empty.
    ///
    /// - Throws: ``ToolError`` if a file contains neither a recording nor a list of URLs, or if there is no input.
    func subjects(_ console: Console) throws -> [Subject] { try words.map { try subject($0, console) } }

    /// Returns true if a word is the path of a manifest, even if no such file exists.
    private static func isManifest(_ word: String, in folder: CurrentFolder) throws -> Bool {
        if Self.isURL(word) { return false }
        switch folder.targetKind(of: word) {
        case nil: return word.hasSuffix(".json") && !folder.isServer(word)
        case .typeDirectory?: return true
        default:
            let data = try folder.contents(of: word)
            return !HARFile.hasLog(data) && (word.hasSuffix(".json") || HARFile.isLikely(data))
        }
    }

    private func subject(_ word: String, _ console: Console) throws -> Subject {
        if word == "-" {
            let input = try console.readAll()
            let isRecording = HARFile.isLikely(input)
            return try isRecording ? Self.subject(input, "<stdin>") : .questions(Self.list(input, "<stdin>"))
        }
        if Self.isURL(word) { return .questions(Self.questions(about: word)) }
        switch folder.targetKind(of: word) {
        case nil:
            guard !folder.isServer(word), let near = folder.namesake(of: word) else {
                return .questions(Self.questions(about: word))
            }
            throw ToolError("\(quoted(word)) does not exist; did you mean \(quoted(near))?")
        case .typeDirectory?:
            throw ToolError("\(quoted(word)) is a folder; name a recording (HAR) or a list of URLs in it")
        default:
            let data = try folder.contents(of: word)
            if HARFile.isLikely(data) { return try Self.subject(data, word) }
            let questions = try Self.list(data, word)
            // A list may contain mistakes, but at least one line must be a URL.
            guard questions.contains(where: { $0.url.contains("//") }) else {
                throw ToolError("\(quoted(word)) is neither a recording (HAR) nor a list of URLs, one per line")
            }
            return .questions(questions)
        }
    }

    private static func isURL(_ word: String) -> Bool { word.isEmpty || ManifestLocation.isURL(word) }
}

extension ExplainOperands {
    private static func subject(_ data: Data, _ name: String) throws -> Subject {
        let recording = try HARFile(data, name: name)
        try recording.checkForEntries(name)
        if let traffic = RecordedTraffic(recording) { return .traffic(traffic, name: name) }
        return .questions(questions(in: recording))
    }

    private static func questions(in recording: HARFile) -> [Question] {
        // A URL whose scheme is neither http nor https (such as data:, blob: or about:) is not requested from a server.
        let exchanges = recording.exchanges.filter { $0.url.lowercased().hasPrefix("http") }
        return exchanges.grouped { [$0.method, $0.url] }.map { _, same in
            let obstacles = same.map(\.obstacle)
            let obstacle = obstacles.contains { $0 == nil } ? nil : obstacles[0]
            return Question(url: same[0].url, method: same[0].method, obstacle: obstacle)
        }
    }

    /// Reads a list of URLs, one in each line; empty lines and those that begin with "#" are left out.
    private static func list(_ data: Data, _ name: String) throws(ToolError) -> [Question] {
        var urls: [String] = []
        let lines = UnicodeText.utf8(data).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            if text.isEmpty || text.hasPrefix("#") { continue }
            guard !text.contains(where: { $0.isWhitespace || $0 == "\"" }) else {
                let place = "\(visible(name)):\(index + 1)"
                throw ToolError("\(place): \(quoted(text)) is more than a URL; write one URL in each line")
            }
            urls.append(text)
        }
        return urls.flatMap(questions(about:))
    }

    /// Returns one question about a URL; returns two for `//host/path`.
    ///
    /// In a manifest, `//host/path` maps both the https URL and the http URL.
    private static func questions(about url: String) -> [Question] {
        (url.hasPrefix("//") ? ["https:\(url)", "http:\(url)"] : [url]).map { Question(url: $0) }
    }
}

extension HARFile.Exchange {
    /// The reason why no command can add the URL, as a sentence; nil if the response is a whole file.
    fileprivate var obstacle: String? {
        // The browser had the file of a 304 already.
        let status = status == 304 ? 200 : status > 0 ? status : nil
        return MissExplainer.obstacle(to: url, method: method, status: status, sharing)
    }
}

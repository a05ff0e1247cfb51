import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit
import SubstitutionChecking

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How often each URL of a manifest was answered with its file, as a recording of the app says; of another recording,
/// how often it would have been.
struct RecordedUse {
    /// By the URLs of substitutions.
    private var times: [String: Int] = [:]

    /// Counts what a recording has of a manifest.
    ///
    /// An answer is found by its URL, or, where the app had another manifest, by file and line.
    init(_ recording: HARFile, of substitutions: [Substitution], in table: SubstitutionTable) {
        let files = Dictionary(grouping: substitutions, by: \.file)
        for exchange in recording.exchanges {
            guard exchange.recorded?.answeredBy ?? .file == .file, let url = URL(string: exchange.url) else { continue }
            var request = URLRequest(url: url)
            request.httpMethod = exchange.method
            let explanation = table.explain(request)
            if let answer = exchange.recorded {
                let same = answer.file.flatMap { files[$0] } ?? []
                let named = explanation.substitution.flatMap { named in same.first { $0.url == named.url } }
                guard let used = named ?? same.first(where: { $0.line == answer.line }) ?? same.first else { continue }
                times[used.url, default: 0] += answer.times
            } else if let used = explanation.substitution {
                switch explanation.answer {
                case .cacheAndProtocol, .protocolOnly: times[used.url, default: 0] += 1
                case .networkUnless, .network: break
                }
            }
        }
    }

    /// Counts what a recording of this name has of a manifest without errors.
    ///
    /// - Throws: ``ToolError`` when it cannot be read, or is none.
    init(named name: String, of check: ManifestCheck, _ manifest: ManifestFile, _ console: Console) throws {
        let recording = try HARFile(console.folder.contents(of: name), name: name)
        try self.init(recording, of: check.substitutions, in: .of(manifest))
    }

    /// How often a URL was answered.
    func times(_ substitution: Substitution) -> Int { times[substitution.url] ?? 0 }

    /// In words.
    func words(_ substitution: Substitution) -> String {
        let times = times(substitution)
        return times == 0 ? "never used" : times == 1 ? "used once" : "used \(times) times"
    }

    /// The files that answered under none of their URLs, each once.
    ///
    /// Those that wait for an error or a lost connection are not among them: nobody hopes to see them used.
    func unusedFiles(of substitutions: [Substitution]) -> [Substitution] {
        let used = Set(substitutions.filter { times($0) > 0 || !$0.conditions.isEmpty }.map(\.file))
        var seen = used
        return substitutions.filter { seen.insert($0.file).inserted }
    }
}

extension Option {
    /// The recording that `list` and `preview` count in.
    static let used = Option(
        "used",
        short: "u",
        value: "recording",
        "Say how often each URL was answered, by a recording (HAR) of the app."
    )
}

extension SubstitutionTable {
    /// The table of a manifest without errors.
    static func of(_ manifest: ManifestFile) throws -> SubstitutionTable {
        let text = try SubstitutionManifest.text(of: manifest.url, name: manifest.name)
        let read = SubstitutionManifest(text, name: manifest.name, url: manifest.url, advice: Advice())
        return try SubstitutionTable(read, folder: manifest.folder)
    }
}

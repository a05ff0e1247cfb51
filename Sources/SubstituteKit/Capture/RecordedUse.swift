import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit
import SubstitutionChecking

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The number of times that a manifest's files answered their URLs, according to a recording.
///
/// A recording by the app says how often a file answered. From any other recording, this type computes how often the
/// file would have answered.
struct RecordedUse {
    /// The number of answers, keyed by the URL of the substitution.
    private var times: [String: Int] = [:]

    /// Counts the answers that a manifest's files gave in a recording.
    ///
    /// An answer counts for the substitution with the same file and URL. The app may have had a different manifest, so
    /// there may be no such substitution. The answer then counts for a substitution with the same file and line, or
    /// else for any substitution with the same file.
    init(_ recording: HARFile, of substitutions: [Substitution], in table: SubstitutionTable) {
        let files = Dictionary(grouping: substitutions, by: \.path)
        for exchange in recording.exchanges {
            guard exchange.recorded?.answeredBy ?? .file == .file, let url = URL(ofBrowser: exchange.url) else {
                continue
            }
            let explanation = table.explain(URLRequest(url, method: exchange.method))
            if let answer = exchange.recorded {
                let same = answer.file.flatMap { files[$0] } ?? []
                let named = explanation.substitution.flatMap { named in same.first { $0.url == named.url } }
                guard let used = named ?? same.first(where: { $0.line == answer.line }) ?? same.first else { continue }
                times[used.url, default: 0].add(stated: answer.times)
            } else if let used = explanation.substitution {
                switch explanation.answer {
                case .cacheAndProtocol, .protocolOnly: times[used.url, default: 0] += 1
                case .networkUnless, .network: break
                }
            }
        }
    }

    /// Reads a recording, and counts the answers that a manifest's files gave; the manifest must have no errors.
    ///
    /// - Throws: ``ToolError`` if the file cannot be read, or is not a recording.
    init(named name: String, of check: ManifestCheck, _ manifest: ManifestFile, _ console: Console) throws {
        let recording = try HARFile(console.folder.contents(of: name), name: name)
        try recording.checkForEntries(name)
        try self.init(recording, of: check.substitutions, in: manifest.table())
    }

    /// True if no file answered any request of the recording.
    var isEmpty: Bool { times.isEmpty }

    /// Returns the number of times that a substitution answered its URL.
    func times(_ substitution: Substitution) -> Int { times[substitution.url] ?? 0 }

    /// Returns the number of uses in words.
    func words(_ substitution: Substitution) -> String {
        let times = times(substitution)
        return times == 0 ? "never used" : times == 1 ? "used once" : "used \(times) times"
    }

    /// Returns the files that never answered under any of their URLs, each file once.
    ///
    /// The files of network-first entries are not included. These files wait for an error or a lost connection, so a
    /// designer wants them to stay unused.
    func unusedFiles(of substitutions: [Substitution]) -> [Substitution] {
        let used = Set(substitutions.filter { times($0) > 0 || !$0.conditions.isEmpty }.map(\.path))
        var seen = used
        return substitutions.filter { seen.insert($0.path).inserted }
    }
}

extension CommandOption where Self == Option<String?> {
    /// The option that names a recording; `preview` counts the answers in it.
    static var used: Self {
        Self("used", value: "recording") { $0 }
    }
}

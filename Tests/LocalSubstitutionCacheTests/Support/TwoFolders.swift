import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

/// A bundle, and the folder that answers in its place if it is newer.
struct TwoFolders {
    let folder: TemporaryFolder
    static let names = ["a.css", "b.js", "large.txt"]

    init() throws { folder = try TemporaryFolder() }

    /// The newer folder, for which there is nothing on disk at the beginning.
    var downloads: URL { folder.url.appendingPathComponent("Application Support/downloads") }
    var manifest: URL { downloads.appendingPathComponent("manifest.json") }

    /// Writes a folder whose files hold `text`; one of them is large enough to be mapped.
    @discardableResult
    func write(_ text: String, version: String?, to path: String) throws -> URL {
        let version = version.map { "\"$version\": \($0), " } ?? ""
        try folder.write("{ \(version)\"https://example.com/\": \"./\" }", to: "\(path)/manifest.json")
        for name in Self.names {
            try folder.write(name == "large.txt" ? String(repeating: text, count: 9000) : text, to: "\(path)/\(name)")
        }
        return folder.url.appendingPathComponent(path)
    }

    func writeBundle(_ text: String = "bundle", version: String?) throws {
        try write(text, version: version, to: "App.bundle/Substitutions")
    }

    @discardableResult
    func writeDownloads(_ text: String = "download", version: String?) throws -> URL {
        try write(text, version: version, to: "Application Support/downloads")
    }

    func cache(reading: ReadingMode = .copied) throws -> SubstitutionCache {
        let bundle = try #require(Bundle(url: folder.url.appendingPathComponent("App.bundle")))
        return try SubstitutionCache(bundle: bundle, newerFolder: downloads, reading: reading)
    }

    /// Returns what each file answers, without repetitions; "nothing" for no answer.
    static func answers(_ cache: SubstitutionCache) -> Set<String> {
        Set(
            names.map { name in
                let url = URL(string: "https://example.com/\(name)")
                guard let data = url.flatMap({ cache.cachedResponse(for: URLRequest(url: $0)) })?.data else {
                    return "nothing"
                }
                let text = String(decoding: data, as: UTF8.self)
                let word = String(text.prefix(name == "large.txt" ? text.utf8.count / 9000 : .max))
                return name == "large.txt" && text != String(repeating: word, count: 9000) ? "half of \(word)" : word
            }
        )
    }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking
import SubstitutionRules

/// A browser that decodes, parses or compiles the files of manifests, and runs none of them.
struct BrowserJudge {
    let settings: BrowserSettings

    /// The number of files for one command, which has to end within a minute.
    private static let groupSize = 10
    /// The size above which a file is not judged, in bytes.
    private static let largestSize = 20_000_000
    private static let judge = String(resource: PackageResources.judge_js)

    /// A mistake that the browser has found.
    private struct Mistake: Decodable {
        let code: String
        let words: String
        let line: Int
        let column: Int
    }

    /// Returns warnings about the files of a manifest that ship, and that browsers cannot read.
    ///
    /// - Throws: ``ToolError`` if the browser does not start, or does not answer.
    func issues(of check: ManifestCheck) async throws -> [ManifestIssue] {
        let files = check.shipped.filter { $0.size <= Self.largestSize && !check.otherFiles.contains($0.path) }
            .grouped { "\($0.type.canonical.essence) \($0.realPath)" }
        guard check.errors.isEmpty, !files.isEmpty else { return [] }
        var contents = ContentCheck(check.manifest, name: check.name, in: check.folder)
        let served = JudgedFiles(files: files.map { $0.elements[0] })
        let mistakes = try await Browser.run(settings, served) { browser in
            try await browser.load(JudgedFiles.page)
            var mistakes: [Mistake?] = []
            while mistakes.count < served.files.count {
                let group = served.files.indices[mistakes.count...].prefix(Self.groupSize).map { index in
                    [JudgedFiles.page + "\(index)", served.files[index].type.canonical.essence]
                }
                let list = String(decoding: try JSONEncoder().encode(group), as: UTF8.self)
                let script = """
                    (async (judge, all = []) => {
                      for (const file of \(list)) all.push(await judge(...file));
                      return all;
                    })(\(Self.judge))
                    """
                mistakes += try await browser.value(of: script, [Mistake?].self, within: 60, isIsolated: false)
            }
            return mistakes
        }
        for (file, mistake) in zip(files, mistakes) {
            guard let mistake else { continue }
            // Several entries may name one file; the first is mended, and then the next.
            contents.add(mistake.code, mistake.words, mistake.line, mistake.column, about: file.elements[0])
        }
        return contents.issues + contents.wrongIgnores(ofBrowser: true)
    }
}

/// The answers to the judge's requests, none of which reaches a network.
private struct JudgedFiles: Interceptor {
    static let page = "https://judge.invalid/"
    let files: [Substitution]

    func decide(on request: HeldRequest) async -> Decision {
        if request.request.url == Self.page {
            let type = HeldRequest.Field(name: "Content-Type", value: "text/html")
            return .answer(status: 200, fields: [type], body: Data("<!DOCTYPE html><body>".utf8))
        }
        guard request.request.url.hasPrefix(Self.page), let index = Int(request.request.url.dropFirst(Self.page.count)),
            files.indices.contains(index), let bytes = files[index].bytes(upTo: files[index].size)
        else { return .answer(status: 404, fields: [], body: Data()) }
        return .answer(status: 200, fields: [], body: bytes)
    }

    func decide(on request: HeldRequest, body: @Sendable () async throws -> String) async -> Decision { .proceed }
}

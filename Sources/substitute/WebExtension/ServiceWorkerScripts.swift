import Foundation
import LocalSubstitutionCache

/// The scripts of service workers among what a manifest maps, and the scripts that these import.
///
/// A rule for one of them breaks its site. Browsers do not register a worker whose script is behind a redirect (Service
/// Workers, "Update"), and Chromium does not import one for it; no rule can tell who asks for a script.
struct ServiceWorkerScripts {
    private var workers: Set<String> = []
    /// URLs in normal form, without their queries.
    private var imported: Set<String> = []

    /// Reads every script.
    init(_ substitutions: [Substitution]) {
        for substitution in substitutions where substitution.mediaType.isJavaScript {
            let text = String(decoding: substitution.bytes(upTo: substitution.size) ?? Data(), as: UTF8.self)
            guard Self.isServiceWorker(text) else { continue }
            workers.insert(substitution.realPath)
            for address in Self.urls(of: substitution) {
                imported.formUnion(
                    Self.imports(in: text).compactMap { URL(string: $0, relativeTo: address) }.map(Self.key)
                )
            }
        }
    }

    /// The reason why a substitution has no rule; nil when it may have one.
    func reason(against substitution: Substitution) -> String? {
        if workers.contains(substitution.realPath) {
            return "a service worker's script, which browsers do not start behind a redirect"
        }
        if !imported.isEmpty, Self.urls(of: substitution).contains(where: { imported.contains(Self.key($0)) }) {
            return "a script that a service worker imports, which Chromium does not behind a redirect"
        }
        return nil
    }

    /// Returns whether a script does what only service workers can: wait for requests, or take pages over.
    private static func isServiceWorker(_ text: String) -> Bool {
        let events = #"addEventListener\s*\(\s*["'`](install|fetch)["'`]"#
        let calls = #"\bskipWaiting\s*\(|\bclients\s*\.\s*claim\s*\("#
        return text.range(of: "\(events)|\(calls)", options: .regularExpression) != nil
    }

    /// The names in calls of `importScripts`, which are relative to the worker.
    private static func imports(in text: String) -> [String] {
        text.matches(of: /importScripts\s*\(([^)]*)\)/).flatMap { call in
            call.output.1.matches(of: /["'`]([^"'`]+)["'`]/).map { String($0.output.1) }
        }
    }

    private static func urls(of substitution: Substitution) -> [URL] {
        substitution.addresses.compactMap { URL(string: "\($0.scheme)://\($0.authority)\($0.path)") }
    }

    private static func key(_ url: URL) -> String { String(url.absoluteString.prefix { !"?#".contains($0) }) }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking
import SubstitutionRules

/// The mapped scripts of service workers, and the scripts that these scripts import.
///
/// A rule that redirects such a script breaks the site. Browsers do not register a service worker if its script is
/// redirected (Service Workers, "Update"). Chromium does not let a service worker import a redirected script. A rule
/// matches URLs and cannot know whether a page or a service worker requests a script.
struct ServiceWorkerScripts {
    private var workers: Set<String> = []
    /// The URLs of the imported scripts, without queries.
    private var imported: Set<String> = []

    /// Reads every script to find the service workers and their imports.
    init(_ substitutions: [Substitution]) {
        var scripts: [String: Substitution] = [:]
        var open: [(text: String, from: URL)] = []
        for substitution in substitutions where substitution.type.isJavaScript {
            let urls = Self.urls(of: substitution)
            for url in urls { scripts[Self.key(url)] = substitution }
            let text = Self.text(of: substitution)
            guard Self.isServiceWorker(text) else { continue }
            workers.insert(substitution.realPath)
            open += urls.map { (text, $0) }
        }
        while let (text, worker) = open.popLast() {
            for name in Self.imports(in: text) {
                guard let url = URL(string: name, relativeTo: worker)?.absoluteURL,
                    imported.insert(Self.key(url)).inserted, let script = scripts[Self.key(url)]
                else { continue }
                // An address in `importScripts` is relative to the worker. An address in `import` is relative to the
                // script.
                let text = Self.text(of: script)
                open.append((text, text.contains("importScripts") ? worker : url))
            }
        }
    }

    /// Returns the reason why a substitution cannot have a rule; nil if a rule is possible.
    func reason(against substitution: Substitution) -> String? {
        if workers.contains(substitution.realPath) {
            return "a service worker's script, which browsers do not accept after a redirect"
        }
        if !imported.isEmpty, Self.urls(of: substitution).contains(where: { imported.contains(Self.key($0)) }) {
            return "a script that a service worker imports, which Chromium does not accept after a redirect"
        }
        return nil
    }

    private static func text(of substitution: Substitution) -> String {
        String(decoding: substitution.bytes(upTo: substitution.size) ?? Data(), as: UTF8.self)
    }

    /// Returns true if a script does something that only service workers do.
    ///
    /// Such a script listens for a service worker's events, takes control of pages, or begins with `importScripts`.
    private static func isServiceWorker(_ text: String) -> Bool {
        let events = "(install|activate|fetch|push|notificationclick)"
        let listens = #"addEventListener\s*\(\s*["'`]\#(events)["'`]|\bself\.on\#(events)\s*="#
        let calls = #"\bskipWaiting\s*\(|\bclients\s*\.\s*claim\s*\("#
        let begins = #"\A\s*(self\.)?importScripts\s*\("#
        return text.range(of: "\(listens)|\(calls)|\(begins)", options: .regularExpression) != nil
    }

    /// Returns the addresses that a script imports, with `importScripts` or with `import`.
    private static func imports(in text: String) -> [String] {
        let modules = ReferenceScanner.references(inScript: Data(text.utf8)).map(\.text)
        return modules + text.components(separatedBy: "importScripts").dropFirst().flatMap(arguments)
    }

    /// Returns the string literals in the parentheses at the beginning of `call`.
    private static func arguments(_ call: String) -> [String] {
        var rest = call.drop(while: \.isWhitespace)
        guard rest.popFirst() == "(" else { return [] }
        var names: [String] = []
        while true {
            rest = rest.drop { $0.isWhitespace || $0 == "," }
            guard let quote = rest.popFirst(), "\"'`".contains(quote) else { return names }
            names.append(String(rest.prefix { $0 != quote }))
            rest = rest.drop { $0 != quote }.dropFirst()
        }
    }

    private static func urls(of substitution: Substitution) -> [URL] {
        substitution.addresses.compactMap { URL(string: "\($0.scheme)://\($0.authority)\($0.path)") }
    }

    private static func key(_ url: URL) -> String { String(url.absoluteString.prefix { !"?#".contains($0) }) }
}

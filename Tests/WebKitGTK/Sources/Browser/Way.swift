import Foundation
@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

/// The three ways to show a page.
enum Way: String, CaseIterable, Sendable {
    /// From the network, without the library.
    case network
    /// On its own origin, with rules that redirect the page's requests to the app's files.
    case rules
    /// As a mirror, under the URL scheme of mirrors.
    case mirror

    /// Opens a view that shows pages in this way.
    func browser(
        _ cache: SubstitutionCache,
        forwardingTo hosts: Set<String>,
        _ archive: (any ResponseArchive)? = nil
    ) async throws -> Browser {
        let server = SchemeServer(cache, forwardingTo: self == .mirror ? hosts : [], archive: archive)
        let expressions =
            self == .rules ? Ruleset(cache.substitutions) { _ in nil }.rules.map(\.filter.regularExpression) : []
        let cookies = PageCookies([])
        return try await Browser(expressions: expressions) { server.reply(to: $0) { cookies } }
    }

    /// Returns the URL that the view loads for a page.
    func address(of page: String) -> String { (self == .mirror ? MirrorURL.prefix : "") + page }
}

import Foundation
@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

/// How a page is shown.
enum Way: String, CaseIterable, Sendable {
    /// Without the library.
    case network
    /// On its own origin, with rules that lead its requests to the app's files.
    case rules
    /// Under the scheme of mirrors.
    case mirror

    /// Opens a view.
    func browser(_ cache: LocalSubstitutionCache, forwardingTo hosts: Set<String>) async throws -> Browser {
        let server = SchemeServer(cache, forwardingTo: self == .mirror ? hosts : [])
        let expressions =
            self == .rules ? Ruleset(cache.substitutions) { _ in nil }.rules.map(\.filter.regularExpression) : []
        let cookies = PageCookies([])
        return try await Browser(expressions: expressions) { server.reply(to: $0) { cookies } }
    }

    /// What the view loads for a page.
    func address(of page: String) -> String { (self == .mirror ? MirrorURL.prefix : "") + page }
}

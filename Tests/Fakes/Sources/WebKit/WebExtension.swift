// The declarations here are documented by Apple.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@MainActor
public final class WKWebExtension: NSObject {
    public enum Permission { case declarativeNetRequestWithHostAccess }
    public struct MatchPattern { public static func allURLs() -> MatchPattern { MatchPattern() } }

    fileprivate let rules: [NSRegularExpression]

    public init(resourceBaseURL: URL) async throws {
        struct Rule: Decodable {
            struct Condition: Decodable { let regexFilter: String }
            let condition: Condition
        }
        _ = try JSONSerialization.jsonObject(
            with: Data(contentsOf: resourceBaseURL.appendingPathComponent("manifest.json"))
        )
        let data = try Data(contentsOf: resourceBaseURL.appendingPathComponent("rules.json"))
        rules = try JSONDecoder().decode([Rule].self, from: data).map {
            try NSRegularExpression(pattern: $0.condition.regexFilter)
        }
        await Task.yield()
        super.init()
    }
}

@MainActor
public final class WKWebExtensionContext: NSObject {
    public enum PermissionStatus: Int { case grantedExplicitly = 3 }

    public var hasAccessToPrivateData = false
    fileprivate let webExtension: WKWebExtension
    fileprivate var (permissions, patterns) = (Set<WKWebExtension.Permission>(), 0)

    public init(for webExtension: WKWebExtension) {
        self.webExtension = webExtension
        super.init()
    }

    public func setPermissionStatus(_ status: PermissionStatus, for permission: WKWebExtension.Permission) {
        permissions.insert(permission)
    }

    public func setPermissionStatus(_ status: PermissionStatus, for pattern: WKWebExtension.MatchPattern) {
        patterns += 1
    }
}

@MainActor
public final class WKWebExtensionController: NSObject {
    public struct Configuration { public static func nonPersistent() -> Configuration { Configuration() } }

    /// The number of pages that are loaded before rules are applied; nil if rules are never applied.
    public static var pagesBeforeRules: Int? = 0
    /// A Boolean value that indicates whether rules are applied in views that are created after the rules.
    ///
    /// False simulates WebKit bug 301720.
    public static var reachesLaterViews = true

    private var contexts: [WKWebExtensionContext] = []
    private var pages = 0
    /// The views that were created before the rules were applied.
    ///
    /// They are retained, because a later view could have the address of a released view and then be mistaken for it.
    private var early: [WKWebView] = []
    private var loaded: ContinuousClock.Instant?

    public init(configuration: Configuration) { super.init() }

    /// Crashes if rules are released while they load, as in WebKit bug 305585.
    deinit {
        if let loaded, loaded.duration(to: .now) < .seconds(2) {
            fatalError("Rules were deallocated while they were loading")
        }
    }

    public func load(_ context: WKWebExtensionContext) throws {
        contexts.append(context)
        loaded = .now
    }

    private var hasRules: Bool { Self.pagesBeforeRules.map { pages > $0 } ?? false }

    func add(_ view: WKWebView) {
        if !hasRules { early.append(view) }
    }

    /// Returns the URL to which a rule redirects a request of a view's page; nil if no rule applies.
    func target(of url: String, in view: WKWebView) -> String? {
        pages += 1
        guard hasRules, Self.reachesLaterViews || early.contains(view) else { return nil }
        let rules = contexts.filter { $0.patterns > 0 && $0.hasAccessToPrivateData && !$0.permissions.isEmpty }
            .flatMap(\.webExtension.rules)
        let range = NSRange(url.startIndex..., in: url)
        return rules.contains { $0.firstMatch(in: url, range: range) != nil } ? "substitution-\(url)" : nil
    }
}

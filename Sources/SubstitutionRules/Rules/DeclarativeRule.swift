/// A redirect rule in the format of web extensions.
///
/// https://developer.chrome.com/docs/extensions/reference/api/declarativeNetRequest#type-Rule
package struct DeclarativeRule: Encodable, Sendable {
    let id: Int
    let action: Action
    let condition: Condition

    struct Action: Encodable {
        let type = "redirect"
        let redirect: [String: String]
    }

    struct Condition: Encodable {
        var urlFilter: String?
        var regexFilter: String?
        /// Always written, because the default of the engines has changed.
        let isUrlFilterCaseSensitive = true
        /// The types of requests that are not redirected.
        ///
        /// If a page or frame were redirected, it would lose its origin. An `object` can contain a page, too.
        let excludedResourceTypes = ["main_frame", "sub_frame", "object"]
        var requestMethods: [String]?
    }

    /// Creates a rule that redirects to a file of the extension, for browsers.
    package init(_ number: Int, _ filter: URLFilter, toFile path: String) {
        id = number
        action = Action(redirect: ["extensionPath": path])
        let methods = ["get", "head"]
        condition =
            filter.pattern.map { Condition(urlFilter: $0, requestMethods: methods) }
            ?? Condition(regexFilter: filter.regularExpression, requestMethods: methods)
    }

    /// Creates a rule that redirects to the mirror of the URL, for an app's web views.
    ///
    /// The mirror of `https://host/path` is `substitution-https://host/path`. The rule has no `requestMethods`, because
    /// WebKit compares these with the method of the page's own request (`ContentExtensionsBackend.cpp`). Its expression
    /// has no group, because WebKit's time for rules with groups grows with the square of the number of these rules.
    package init(toMirrorOf filter: URLFilter, _ number: Int) {
        id = number
        action = Action(redirect: ["regexSubstitution": MirrorURL.prefix + #"\0"#])
        condition = Condition(regexFilter: filter.regularExpression)
    }

    /// True if the rule counts towards the limit that browsers have for rules with regular expressions.
    package var isRegularExpression: Bool { condition.regexFilter != nil }
}

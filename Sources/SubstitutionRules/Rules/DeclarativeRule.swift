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
        /// Always written, because the engines' default has changed.
        let isUrlFilterCaseSensitive = true
        /// Pages and frames would lose their origin if they were redirected; an `object` can hold a page, too.
        let excludedResourceTypes = ["main_frame", "sub_frame", "object"]
        var requestMethods: [String]?
    }

    /// Creates a rule for browsers, which redirects to a file of the extension.
    package init(_ number: Int, _ filter: URLFilter, toFile path: String) {
        id = number
        action = Action(redirect: ["extensionPath": path])
        let methods = ["get", "head"]
        condition =
            filter.pattern.map { Condition(urlFilter: $0, requestMethods: methods) }
            ?? Condition(regexFilter: filter.regularExpression, requestMethods: methods)
    }

    /// Creates a rule for an app's web views, which redirects to the mirror of the URL.
    ///
    /// The rule has no methods, because WebKit compares them with the method of the page's own request
    /// (`ContentExtensionsBackend.cpp`). It has no group, because WebKit's time for rules with groups is quadratic in
    /// the number of rules.
    package init(toMirrorOf filter: URLFilter, _ number: Int) {
        id = number
        action = Action(redirect: ["regexSubstitution": MirrorURL.prefix + #"\0"#])
        condition = Condition(regexFilter: filter.regularExpression)
    }

    /// True if the rule counts towards the browsers' low limit for regular expressions.
    package var isRegularExpression: Bool { condition.regexFilter != nil }
}

/// A rule as extensions write it.
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
        /// What engines take for granted has changed.
        let isUrlFilterCaseSensitive = true
        /// A page, and one in a frame, would lose its origin; what `object` shows is such a page.
        let excludedResourceTypes = ["main_frame", "sub_frame", "object"]
        var requestMethods: [String]?
    }

    /// Leads to a file of the extension, in browsers.
    package init(_ number: Int, _ filter: URLFilter, toFile path: String) {
        id = number
        action = Action(redirect: ["extensionPath": path])
        let methods = ["get", "head"]
        condition =
            filter.pattern.map { Condition(urlFilter: $0, requestMethods: methods) }
            ?? Condition(regexFilter: filter.regularExpression, requestMethods: methods)
    }

    /// Leads to the mirror of the URL, in web views of an app.
    ///
    /// Without methods: WebKit compares that of the page's own request (`ContentExtensionsBackend.cpp`). And without a
    /// group: the time that it takes for rules with groups grows with the square of their number.
    package init(toMirrorOf filter: URLFilter, _ number: Int) {
        id = number
        action = Action(redirect: ["regexSubstitution": MirrorURL.prefix + #"\0"#])
        condition = Condition(regexFilter: filter.regularExpression)
    }

    /// Whether browsers count it among regular expressions, of which they take few.
    package var isRegularExpression: Bool { condition.regexFilter != nil }
}

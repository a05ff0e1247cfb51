import LocalSubstitutionCache
import SubstituteCheckKit

/// The options for loading a page: scrolling, and a wait at the end.
struct LoadOptions: Sendable {
    /// True to scroll through the page, so that it loads what is not visible at first.
    var scrolls = false
    /// The wait after loading and scrolling, in seconds.
    var pause = 0.0

    static let scroll = Option("scroll")
    static let wait = Option("wait", value: "seconds", Quantity.seconds(from: 0))

    /// Creates the default: no scrolling, and no wait.
    init() {}

    /// Reads the options of a command line.
    init(_ arguments: Arguments) throws {
        scrolls = arguments.has(Self.scroll)
        pause = try arguments[Self.wait] ?? 0
    }
}

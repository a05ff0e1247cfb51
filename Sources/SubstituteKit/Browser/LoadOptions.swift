import LocalSubstitutionCache
import SubstituteCheckKit

/// The options for loading a page: scrolling, and a wait at the end.
struct LoadOptions: Sendable {
    /// True to scroll through the page, so that it loads what is not visible at first.
    var scrolls = false
    /// The wait after loading and scrolling, in seconds.
    var pause = 0.0

    static let scroll = Option(
        "scroll",
        "Scroll to the end of each page, to load content that is not visible at first."
    )
    static let wait = Option("wait", value: "seconds", "How long to wait after a page is loaded.")

    /// Creates the default: no scrolling, and no wait.
    init() {}

    /// Reads the options of a command line.
    init(_ arguments: Arguments) throws(UsageError) {
        scrolls = arguments.has(Self.scroll)
        guard let text = arguments.values(Self.wait).last else { return }
        guard let seconds = Double(text), (0...3600).contains(seconds) else {
            throw Quantity.error(
                text,
                "is not a number of seconds",
                otherwise: "write a number from 0 to 3600",
                where: { Double($0).map((0...3600).contains) ?? false }
            )
        }
        pause = seconds
    }
}

import LocalSubstitutionCache

/// The status with which the tool exits.
package enum ExitStatus: Int32, Sendable {
    case good = 0
    /// Something is wrong, and the output says what; or the command could not do its work.
    case bad = 1
    /// The tool was used wrongly, and has done nothing.
    case usage = 2
    /// A dry run found a file that is out of date.
    case outdated = 3
}

/// An error about a wrong use of the tool; its message is a sentence.
package struct UsageError: Error {
    package let message: String

    package init(_ message: String) {
        self.message = message
    }
}

/// An error that kept the tool from doing its work; its message is a sentence.
package struct ToolError: Error {
    package let message: String

    package init(_ message: String) {
        self.message = message
    }

    /// The error for a file that cannot be written where it shall be.
    package static func unwritable(_ path: String) -> ToolError {
        ToolError("\(quoted(path)) cannot be written; its folder must exist, and it must not be a folder itself")
    }
}

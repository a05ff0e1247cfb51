import LocalSubstitutionCache

/// An error about a wrong use of the tool; its message is a sentence.
///
/// The tool exits with status 2.
package struct UsageError: Error {
    package let message: String

    package init(_ message: String) {
        self.message = message
    }
}

/// An error that kept the tool from doing its work; its message is a sentence.
///
/// The tool exits with status 1.
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

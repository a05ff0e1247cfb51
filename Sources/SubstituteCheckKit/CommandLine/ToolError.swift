/// A wrong use of the tool, as a sentence.
///
/// The tool exits with status 2.
package struct UsageError: Error {
    package let message: String

    package init(_ message: String) {
        self.message = message
    }
}

/// A failure that kept the tool from doing its work, as a sentence.
///
/// The tool exits with status 1.
package struct ToolError: Error {
    package let message: String

    package init(_ message: String) {
        self.message = message
    }
}

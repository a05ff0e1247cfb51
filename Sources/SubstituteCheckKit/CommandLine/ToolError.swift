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
}

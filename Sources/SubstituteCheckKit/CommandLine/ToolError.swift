/// Wrong use of the tool, as a sentence.
///
/// Ends it with status 2.
package struct UsageError: Error {
    package let message: String

    package init(_ message: String) {
        self.message = message
    }
}

/// Something that kept the tool from its work, as a sentence.
///
/// Ends it with status 1.
package struct ToolError: Error {
    package let message: String

    package init(_ message: String) {
        self.message = message
    }
}

package import Testing

/// Where a test holds.
package enum Platform {
    package static var isLinux: Bool {
        // The question itself.
        #if os(Linux)
        true
        #else
        false
        #endif
    }

    /// For what was measured of URL loading on Linux, and is documented to differ elsewhere.
    package static let measuredOnLinux = ConditionTrait.enabled(if: isLinux, "URL loading differs elsewhere")
}

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

    /// As it stands in the names of files.
    package static var name: String {
        // The question itself.
        #if os(Linux)
        "Linux"
        #elseif os(macOS)
        "macOS"
        #elseif os(iOS)
        "iOS"
        #else
        "other"
        #endif
    }

    /// For what was measured of URL loading on Linux, and is documented to differ elsewhere.
    package static let measuredOnLinux = ConditionTrait.enabled(if: isLinux, "URL loading differs elsewhere")
}

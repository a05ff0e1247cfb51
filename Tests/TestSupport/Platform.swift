package import Testing

/// The platform that the tests run on.
package enum Platform {
    package static var isLinux: Bool {
        // Only the compiler knows the platform.
        #if os(Linux)
        true
        #else
        false
        #endif
    }

    /// The platform's name, as used in file names.
    package static var name: String {
        // Only the compiler knows the platform.
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

    /// Enables a test only on Linux, where its expected results were measured.
    ///
    /// URL loading is documented to differ on other systems.
    package static let measuredOnLinux = ConditionTrait.enabled(if: isLinux, "URL loading differs elsewhere")
}

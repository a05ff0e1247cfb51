import TestSupport
import Testing

/// Conditions for tests that start a browser or the package manager.
///
/// These take longer than all other tests together, so a plain `swift test` skips them.
extension Trait where Self == ConditionTrait {
    /// Runs a test that starts Chromium if `REQUIRE_ALL_TESTS` is set; without Chromium, the test then fails.
    static var startsChromium: Self {
        .enabled(if: Program.isEverythingRequired, "starts Chromium; REQUIRE_ALL_TESTS=1 runs it")
    }

    /// Runs a test that starts Firefox if `REQUIRE_ALL_TESTS` and `LONG_TESTS` are set; few machines have Firefox.
    static var startsFirefox: Self {
        .enabled(
            if: Program.isEverythingRequired && Program.isLongRun,
            "starts Firefox; REQUIRE_ALL_TESTS=1 LONG_TESTS=1 runs it"
        )
    }

    /// Runs a test that opens a window on a separate screen if `REQUIRE_ALL_TESTS` and `LONG_TESTS` are set.
    static var opensWindow: Self {
        .enabled(
            if: Program.isEverythingRequired && Program.isLongRun,
            "opens a window; REQUIRE_ALL_TESTS=1 LONG_TESTS=1 runs it"
        )
    }

    /// Runs a test that starts the package manager if `REQUIRE_ALL_TESTS` is set.
    static var startsPackageManager: Self {
        .enabled(if: Program.isEverythingRequired, "starts the package manager; REQUIRE_ALL_TESTS=1 runs it")
    }
}

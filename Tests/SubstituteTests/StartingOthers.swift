import TestSupport
import Testing

/// Conditions for tests that start a browser or the package manager.
///
/// Such tests take longer than all other tests together, so a plain `swift test` skips them.
extension Trait where Self == ConditionTrait {
    /// If `REQUIRE_ALL_TESTS` is set, runs a test that starts Chromium; the test fails if Chromium is not installed.
    static var startsChromium: Self {
        .enabled(if: Program.isEverythingRequired, "starts Chromium; REQUIRE_ALL_TESTS=1 runs it")
    }

    /// If `REQUIRE_ALL_TESTS` and `LONG_TESTS` are set, runs a test that starts Firefox; few machines have Firefox.
    static var startsFirefox: Self {
        .enabled(
            if: Program.isEverythingRequired && Program.isLongRun,
            "starts Firefox; REQUIRE_ALL_TESTS=1 LONG_TESTS=1 runs it"
        )
    }

    /// If `REQUIRE_ALL_TESTS` and `LONG_TESTS` are set, runs a test that opens a window on a separate screen.
    static var opensWindow: Self {
        .enabled(
            if: Program.isEverythingRequired && Program.isLongRun,
            "opens a window; REQUIRE_ALL_TESTS=1 LONG_TESTS=1 runs it"
        )
    }

    /// If `REQUIRE_ALL_TESTS` is set, runs a test that starts the package manager.
    static var startsPackageManager: Self {
        .enabled(if: Program.isEverythingRequired, "starts the package manager; REQUIRE_ALL_TESTS=1 runs it")
    }
}

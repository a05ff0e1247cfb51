import TestSupport
import Testing

/// Tests that start a browser or the package manager take longer than all others together, so that somebody who only
/// types `swift test` does not wait for them.
extension Trait where Self == ConditionTrait {
    /// Runs a test that starts Chromium where `REQUIRE_ALL_TESTS` is set, and fails it where there is none.
    static var startsChromium: Self {
        .enabled(if: Program.isEverythingRequired, "starts Chromium; REQUIRE_ALL_TESTS=1 runs it")
    }

    /// Runs a test that starts Firefox where `LONG_TESTS` is set, too: few machines have it.
    static var startsFirefox: Self {
        .enabled(
            if: Program.isEverythingRequired && Program.isLongRun,
            "starts Firefox; REQUIRE_ALL_TESTS=1 LONG_TESTS=1 runs it"
        )
    }

    /// Runs a test that opens a window on a screen of its own where `LONG_TESTS` is set, too.
    static var opensWindow: Self {
        .enabled(
            if: Program.isEverythingRequired && Program.isLongRun,
            "opens a window; REQUIRE_ALL_TESTS=1 LONG_TESTS=1 runs it"
        )
    }

    /// Runs a test that starts the package manager where `REQUIRE_ALL_TESTS` is set.
    static var startsPackageManager: Self {
        .enabled(if: Program.isEverythingRequired, "starts the package manager; REQUIRE_ALL_TESTS=1 runs it")
    }
}

import TestSupport
import Testing

/// Conditions for tests that start a browser or the package manager.
///
/// Such tests take longer than all other tests together, so a plain `swift test` skips them.
extension Trait where Self == StartsChromium {
    /// If `REQUIRE_ALL_TESTS` is set, runs a test that starts Chromium; the test fails if Chromium is not installed.
    static var startsChromium: Self { Self() }
}

extension Trait where Self == ConditionTrait {
    /// If `REQUIRE_ALL_TESTS` and `LONG_TESTS` are set, runs a test that starts Firefox; few machines have Firefox.
    static var startsFirefox: Self { longRun("starts Firefox") }

    /// If `REQUIRE_ALL_TESTS` and `LONG_TESTS` are set, runs a test that opens a window on a separate screen.
    static var opensWindow: Self { longRun("opens a window") }

    /// If `REQUIRE_ALL_TESTS` is set, runs a test that starts the package manager.
    static var startsPackageManager: Self {
        .enabled(if: Program.isEverythingRequired, "starts the package manager; REQUIRE_ALL_TESTS=1 runs it")
    }

    private static func longRun(_ reason: String) -> Self {
        let isLong = Program.isEverythingRequired && Program.isLongRun
        return .enabled(if: isLong, "\(reason); REQUIRE_ALL_TESTS=1 LONG_TESTS=1 runs it")
    }
}

/// Lets a few tests at a time start Chromium: more would only take processor time from each other.
struct StartsChromium: TestTrait, SuiteTrait, TestScoping {
    private static let turns = Turns(3)
    private let condition = ConditionTrait.enabled(if: Program.isEverythingRequired, "REQUIRE_ALL_TESTS=1 runs it")

    var isRecursive: Bool { true }

    func prepare(for test: Test) async throws { try await condition.prepare(for: test) }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await Self.turns.perform(function)
    }
}

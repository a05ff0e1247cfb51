import LocalSubstitutionCache
import Testing

/// Runs each test of a suite once in each loading mode; an issue names the mode.
struct EveryLoadingMode: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        defer { LoadingMode.current = .classic }
        for mode in LoadingMode.allCases {
            LoadingMode.current = mode
            let naming = IssueHandlingTrait.compactMapIssues { issue in
                var issue = issue
                issue.comments.append("loading mode: \(mode)")
                return issue
            }
            try await naming.provideScope(for: test, testCase: testCase, performing: function)
        }
    }
}

extension Trait where Self == EveryLoadingMode {
    static var everyLoadingMode: Self { Self() }
}

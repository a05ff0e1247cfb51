import Testing

/// Suites with an installed cache, of which a process has one: so one test of all of them runs at a time.
@Suite("With an installed cache", .serialized, .timeLimit(.minutes(20)))
enum InstalledTests {}

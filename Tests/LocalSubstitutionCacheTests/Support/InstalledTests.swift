import Testing

/// The suites that install a cache.
///
/// A process has only one installed cache, so the tests of all these suites run one at a time.
@Suite("With an installed cache", .serialized, .timeLimit(.minutes(20)))
enum InstalledTests {}

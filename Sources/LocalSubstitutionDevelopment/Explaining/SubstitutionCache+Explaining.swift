public import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension SubstitutionCache {
    /// Explains whether a request would be substituted, why, and what would change that.
    ///
    /// The explanation depends on the request alone, and not on a session. The first call indexes the table; later
    /// calls take a few lookups.
    ///
    /// - Parameter request: Any request; it is not loaded.
    /// - Returns: The explanation, which prints as a sentence or two.
    public func explain(_ request: URLRequest) -> Explanation { currentTable.explain(request) }
}

extension SubstitutionTable {
    /// Explains what happens to `request`; see ``SubstitutionCache/explain(_:)``.
    package func explain(_ request: URLRequest) -> Explanation { Explanation(request, self) }
}

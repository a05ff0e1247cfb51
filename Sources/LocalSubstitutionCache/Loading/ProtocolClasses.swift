import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A protocol by which other code recognises ``SubstitutionURLProtocol`` and its subclasses.
protocol SubstitutingClass: URLProtocol {}

extension [AnyClass] {
    /// The classes that are not this library's.
    var withoutSubstitutions: [AnyClass] { filter { !($0 is any SubstitutingClass.Type) } }
}

extension URLSessionConfiguration {
    /// Returns a copy without this library's protocols: the configuration as it would be without this library.
    func withoutSubstitutions() -> URLSessionConfiguration {
        guard let copy = copy() as? URLSessionConfiguration else { return .ephemeral }
        copy.protocolClasses = copy.protocolClasses?.withoutSubstitutions
        return copy
    }
}

// Only Foundation on Linux lists its own protocol classes in a configuration.
#if canImport(FoundationNetworking) && !APPLE_LOADING
/// The protocol classes of Foundation itself, which a default configuration lists.
enum SystemProtocols {
    private static let classes = (URLSessionConfiguration.default.protocolClasses ?? []).withoutSubstitutions

    static func contains(_ protocolClass: AnyClass) -> Bool { classes.contains { $0 == protocolClass } }

    /// Returns the first class that can load `request`; nil if none can.
    ///
    /// The classes in `listed` are consulted before the system's classes.
    static func first(for request: URLRequest, behind listed: [AnyClass] = []) -> URLProtocol.Type? {
        (listed + classes).lazy.compactMap { $0 as? URLProtocol.Type }.first { $0.canInit(with: request) }
    }
}
#endif

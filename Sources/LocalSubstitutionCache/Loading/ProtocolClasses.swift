import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Marks ``SubstitutionProtocol`` and its subclasses for code that need know nothing else of them.
protocol SubstitutingClass: URLProtocol {}

extension [AnyClass] {
    /// Without this library's.
    var withoutSubstitutions: [AnyClass] { filter { !($0 is any SubstitutingClass.Type) } }

    /// The classes behind this library's.
    var behindSubstitutions: [AnyClass] {
        Array(drop { !($0 is any SubstitutingClass.Type) }).withoutSubstitutions
    }
}

extension URLSessionConfiguration {
    /// The same, without this library's protocols: what sessions would load with if it were not there.
    func withoutSubstitutions() -> URLSessionConfiguration {
        guard let copy = copy() as? URLSessionConfiguration else { return .ephemeral }
        copy.protocolClasses = copy.protocolClasses?.withoutSubstitutions
        return copy
    }
}

// Only Foundation on Linux lists the classes by which it loads.
#if canImport(FoundationNetworking) && !APPLE_LOADING
/// The classes by which Foundation loads when nobody lists others.
enum SystemProtocols {
    private static let classes = (URLSessionConfiguration.default.protocolClasses ?? []).withoutSubstitutions

    static func contains(_ protocolClass: AnyClass) -> Bool { classes.contains { $0 == protocolClass } }

    /// The class that takes `request`: one of `listed`, or else the system's; nil for none.
    static func first(for request: URLRequest, behind listed: [AnyClass] = []) -> URLProtocol.Type? {
        (listed + classes).lazy.compactMap { $0 as? URLProtocol.Type }.first { $0.canInit(with: request) }
    }
}
#endif

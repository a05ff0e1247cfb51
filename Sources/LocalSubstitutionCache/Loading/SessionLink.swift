import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the library knows of the sessions whose configuration lists one class of protocols.
///
/// URL loading tells a protocol neither its session nor the configuration. But it makes an instance of exactly the
/// class that the configuration lists, and asks that class whether it wants a request. So each link has a class of its
/// own. Classes are made from types without values that spell a number in binary. Swift never frees one, so a class is
/// never given to a second session, and configurations with the same other classes share theirs.
// Mutable state is only accessed inside the lock.
final class SessionLink: @unchecked Sendable {
    let protocolClass: SubstitutionProtocol.Type
    /// The classes that the configuration lists behind this one; those of a registered session can be asked.
    private let others: [AnyClass]
    private weak var registered: URLSession?
    private var inner: InnerSession?

    private init(_ protocolClass: SubstitutionProtocol.Type, others: [AnyClass]) {
        (self.protocolClass, self.others) = (protocolClass, others)
    }

    private static let lock = NSLock()
    /// Those with an inner session.
    private nonisolated(unsafe) static var loading: [SessionLink] = []
    private nonisolated(unsafe) static var links: [ObjectIdentifier: SessionLink] = [:]
    /// Those that configurations share, by the other classes; only used on Linux.
    private nonisolated(unsafe) static var unregistered: [[ObjectIdentifier]: SessionLink] = [:]

    /// The link of a class; nil for ``SubstitutionProtocol`` itself.
    static func of(_ protocolClass: SubstitutionProtocol.Type) -> SessionLink? {
        lock.withLock { links[ObjectIdentifier(protocolClass)] }
    }

    /// Runs `body` inside the lock.
    ///
    /// Sessions that `body` looks at go into `seen`, and are let go outside: the app's own objects may end with them,
    /// and call this library.
    private static func locked<Result>(_ body: (_ seen: inout [AnyObject?]) -> Result) -> Result {
        var seen: [AnyObject?] = []
        lock.lock()
        let result = body(&seen)
        lock.unlock()
        return result
    }

    /// Called inside the lock.
    private static func make(others: [AnyClass] = [], _ seen: inout [AnyObject?]) -> SessionLink {
        func protocolClass<Digits>(_ digits: Digits.Type, _ rest: Int) -> SubstitutionProtocol.Type {
            if rest == 0 { return LinkedProtocol<Digits>.self }
            return rest.isMultiple(of: 2)
                ? protocolClass(Zero<Digits>.self, rest / 2) : protocolClass(One<Digits>.self, rest / 2)
        }
        // Sessions end without a word; what was made for them ends here.
        loading.removeAll { link in
            let session = link.registered
            seen.append(session)
            guard session == nil else { return false }
            link.inner?.end()
            link.inner = nil
            return true
        }
        let link = SessionLink(protocolClass(Void.self, links.count + 1), others: others)
        links[ObjectIdentifier(link.protocolClass)] = link
        return link
    }

    /// The session, if the app has registered it and it has not ended.
    var session: URLSession? { Self.lock.withLock { registered } }

    /// The session of the library's own that loads as the registered one would; nil for a session that is not known.
    var innerSession: InnerSession? {
        Self.locked { seen in
            guard let registered else { return nil }
            seen.append(registered)
            if let inner, inner.isLike(registered.configuration) { return inner }
            inner?.end()
            let inner = InnerSession(like: registered.configuration)
            self.inner = inner
            if !Self.loading.contains(where: { $0 === self }) { Self.loading.append(self) }
            return inner
        }
    }
}

private enum Zero<Digits> {}
private enum One<Digits> {}

/// The class of one link.
private final class LinkedProtocol<Number>: SubstitutionProtocol {
    override class var link: SessionLink? { SessionLink.of(Self.self) }
}

extension [AnyClass] {
    /// This library's, if there is one.
    fileprivate var substitution: SubstitutionProtocol.Type? {
        lazy.compactMap { $0 as? SubstitutionProtocol.Type }.first
    }
}

// Foundation on Linux hands out the very configuration that a session works with, and Apple's a copy. So on Linux
// registering a session puts a class of its own into it; on Apple's systems that class must be there already.
#if canImport(FoundationNetworking) && !APPLE_LOADING
extension SessionLink {
    /// The class for a configuration that lists these other ones; sessions made with it are not known.
    static func protocolClass(before others: [AnyClass]) -> SubstitutionProtocol.Type {
        if others.allSatisfy({ SystemProtocols.contains($0) }) { return SubstitutionProtocol.self }
        return locked { seen in
            let key = others.map { ObjectIdentifier($0) }
            if let link = unregistered[key] { return link.protocolClass }
            let link = make(others: others, &seen)
            unregistered[key] = link
            return link.protocolClass
        }
    }

    /// Whether this is the configuration of a registered session, and not one that was copied from it.
    static func isRegistered(_ configuration: URLSessionConfiguration) -> Bool {
        configuration.protocolClasses?.substitution.flatMap { of($0)?.session }?.configuration === configuration
    }

    static func register(_ session: URLSession) -> Bool {
        locked { seen in
            let configuration = session.configuration
            var classes = configuration.protocolClasses ?? []
            let registered = classes.substitution.flatMap { links[ObjectIdentifier($0)]?.registered }
            seen.append(registered)
            if registered === session { return true }
            // Behind the app's own classes, unless it has put this library's before them.
            let isOwn = { (each: AnyClass) in each is SubstitutionProtocol.Type }
            let place =
                classes.firstIndex(where: isOwn) ?? classes.firstIndex(where: SystemProtocols.contains)
                ?? classes.endIndex
            classes.removeAll(where: isOwn)
            let link = make(others: Array(classes[place...]), &seen)
            link.registered = session
            classes.insert(link.protocolClass, at: place)
            configuration.protocolClasses = classes
            return true
        }
    }

    /// The class that would load `request` if this library were not there; nil for none.
    static func nextClass(for request: URLRequest, behind link: SessionLink?) -> URLProtocol.Type? {
        let listed = link.flatMap { $0.session?.configuration.protocolClasses?.behindSubstitutions ?? $0.others }
        return SystemProtocols.first(for: request, behind: listed ?? [])
    }

    static var registeredClass: SubstitutionProtocol.Type { SubstitutionProtocol.self }
}
#else
extension SessionLink {
    /// Apple's systems hand out copies.
    static func isRegistered(_ configuration: URLSessionConfiguration) -> Bool { false }

    static func protocolClass(before others: [AnyClass]) -> SubstitutionProtocol.Type {
        locked { seen in make(&seen).protocolClass }
    }

    /// The class that is registered; Apple's systems ask it for the shared session only.
    static let registeredClass = locked { seen in
        let link = make(&seen)
        link.registered = .shared
        return link.protocolClass
    }

    static func register(_ session: URLSession) -> Bool {
        if session === URLSession.shared { return Installation.current != nil }
        let classes = session.configuration.protocolClasses ?? []
        return locked { seen in
            guard let link = classes.lazy.compactMap({ links[ObjectIdentifier($0)] }).first else { return false }
            let registered = link.registered
            seen.append(registered)
            guard registered == nil || registered === session else { return false }
            link.registered = session
            return true
        }
    }
}
#endif

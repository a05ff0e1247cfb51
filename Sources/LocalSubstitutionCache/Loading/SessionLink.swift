import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A link from a subclass of ``SubstitutionProtocol`` to the session whose configuration lists that subclass.
///
/// A protocol cannot see its session or the session's configuration. But URL loading consults exactly the class that
/// the configuration lists, and creates instances of it. So each link has its own class, from which the library finds
/// the session.
///
/// The classes are specialisations of the generic `LinkedProtocol`. Their type arguments, `Zero` and `One`, have no
/// values and spell a number in binary. Each session gets a new class, so that no class belongs to the wrong session.
/// Swift never frees such a class. So on Linux, unregistered configurations share a class if they list the same other
/// classes.
// Mutable state is only accessed inside the lock.
final class SessionLink: @unchecked Sendable {
    let protocolClass: SubstitutionProtocol.Type
    /// The classes that the configuration lists after this one.
    ///
    /// While a session is registered, its own configuration is read instead.
    private let others: [AnyClass]
    private weak var registered: URLSession?
    private var backing: BackingSession?

    private init(_ protocolClass: SubstitutionProtocol.Type, others: [AnyClass]) {
        (self.protocolClass, self.others) = (protocolClass, others)
    }

    private static let lock = NSLock()
    /// The links that have a backing session.
    private nonisolated(unsafe) static var linksWithBackingSession: [SessionLink] = []
    private nonisolated(unsafe) static var links: [ObjectIdentifier: SessionLink] = [:]
    /// The links that unregistered configurations share, keyed by ``others``; only used on Linux.
    private nonisolated(unsafe) static var sharedLinks: [[ObjectIdentifier]: SessionLink] = [:]

    /// Returns the link of a class; nil for ``SubstitutionProtocol`` itself.
    static func of(_ protocolClass: SubstitutionProtocol.Type) -> SessionLink? {
        lock.withLock { links[ObjectIdentifier(protocolClass)] }
    }

    /// Runs `body` inside the lock.
    ///
    /// `body` adds each session that it reads to an array, which is released after the lock is unlocked. If the array
    /// holds the last reference to a session, objects of the app may be deallocated with the session. Such objects may
    /// call this library, which would deadlock inside the lock.
    private static func locked<Result>(_ body: (_ released: inout [AnyObject?]) -> Result) -> Result {
        var released: [AnyObject?] = []
        lock.lock()
        let result = body(&released)
        lock.unlock()
        withExtendedLifetime(released) {}
        return result
    }

    /// Creates a link with a new class; called inside the lock.
    private static func makeLink(others: [AnyClass] = [], _ released: inout [AnyObject?]) -> SessionLink {
        func protocolClass<Digits>(_ digits: Digits.Type, _ rest: Int) -> SubstitutionProtocol.Type {
            if rest == 0 { return LinkedProtocol<Digits>.self }
            return rest.isMultiple(of: 2)
                ? protocolClass(Zero<Digits>.self, rest / 2) : protocolClass(One<Digits>.self, rest / 2)
        }
        // URLSession does not report its deallocation, so discard the backing sessions of sessions that are gone.
        linksWithBackingSession.removeAll { link in
            let session = link.registered
            released.append(session)
            guard session == nil else { return false }
            link.backing?.finishAndInvalidate()
            link.backing = nil
            return true
        }
        let link = SessionLink(protocolClass(Void.self, links.count + 1), others: others)
        links[ObjectIdentifier(link.protocolClass)] = link
        return link
    }

    /// The registered session; nil before it is registered and after it is deallocated.
    var session: URLSession? { Self.lock.withLock { registered } }

    /// The backing session, which loads as the registered session would; nil if none is registered.
    ///
    /// It is replaced if ``BackingSession/matches(_:)`` finds that the app has changed the session's configuration.
    var backingSession: BackingSession? {
        Self.locked { released in
            guard let registered else { return nil }
            released.append(registered)
            if let backing, backing.matches(registered.configuration) { return backing }
            backing?.finishAndInvalidate()
            let backing = BackingSession(like: registered.configuration)
            self.backing = backing
            if !Self.linksWithBackingSession.contains(where: { $0 === self }) {
                Self.linksWithBackingSession.append(self)
            }
            return backing
        }
    }
}

private enum Zero<Digits> {}
private enum One<Digits> {}

/// The protocol class of one link.
private final class LinkedProtocol<Number>: SubstitutionProtocol {
    override class var link: SessionLink? { SessionLink.of(Self.self) }
}

extension [AnyClass] {
    /// The first class of this library; nil if there is none.
    fileprivate var substitution: SubstitutionProtocol.Type? {
        lazy.compactMap { $0 as? SubstitutionProtocol.Type }.first
    }
}

// `URLSession.configuration` is the live object on Linux, and a copy on Apple's systems. So on Linux, registering a
// session adds a separate class to its configuration; on Apple's systems the configuration must list such a class
// already.
#if canImport(FoundationNetworking) && !APPLE_LOADING
extension SessionLink {
    /// Returns the class for a configuration that also lists `others`.
    ///
    /// A session that is created from that configuration is not registered until the app registers it.
    static func protocolClass(before others: [AnyClass]) -> SubstitutionProtocol.Type {
        if others.allSatisfy({ SystemProtocols.contains($0) }) { return SubstitutionProtocol.self }
        return locked { released in
            let key = others.map { ObjectIdentifier($0) }
            if let link = sharedLinks[key] { return link.protocolClass }
            let link = makeLink(others: others, &released)
            sharedLinks[key] = link
            return link.protocolClass
        }
    }

    /// Returns true for the configuration of a registered session, and false for a copy of it.
    static func isRegistered(_ configuration: URLSessionConfiguration) -> Bool {
        configuration.protocolClasses?.substitution.flatMap { of($0)?.session }?.configuration === configuration
    }

    static func register(_ session: URLSession) -> Bool {
        locked { released in
            let configuration = session.configuration
            var classes = configuration.protocolClasses ?? []
            let registered = classes.substitution.flatMap { links[ObjectIdentifier($0)]?.registered }
            released.append(registered)
            if registered === session { return true }
            // The class goes after the app's own, unless the app has put this library's class before them.
            let isOwn = { (each: AnyClass) in each is SubstitutionProtocol.Type }
            let place =
                classes.firstIndex(where: isOwn) ?? classes.firstIndex(where: SystemProtocols.contains)
                ?? classes.endIndex
            classes.removeAll(where: isOwn)
            let link = makeLink(others: Array(classes[place...]), &released)
            link.registered = session
            classes.insert(link.protocolClass, at: place)
            configuration.protocolClasses = classes
            return true
        }
    }

    /// Returns the class that would load `request` without this library; nil if there is none.
    static func nextClass(for request: URLRequest, behind link: SessionLink?) -> URLProtocol.Type? {
        let listed = link.flatMap { $0.session?.configuration.protocolClasses?.behindSubstitutions ?? $0.others }
        return SystemProtocols.first(for: request, behind: listed ?? [])
    }

    static var registeredClass: SubstitutionProtocol.Type { SubstitutionProtocol.self }
}
#else
extension SessionLink {
    /// Returns false: on Apple's systems a session returns only copies of its configuration.
    static func isRegistered(_ configuration: URLSessionConfiguration) -> Bool { false }

    static func protocolClass(before others: [AnyClass]) -> SubstitutionProtocol.Type {
        locked { released in makeLink(&released).protocolClass }
    }

    /// The class that is registered with `URLProtocol`; Apple's systems consult it for the shared session only.
    static let registeredClass = locked { released in
        let link = makeLink(&released)
        link.registered = .shared
        return link.protocolClass
    }

    static func register(_ session: URLSession) -> Bool {
        if session === URLSession.shared { return Installation.current != nil }
        let classes = session.configuration.protocolClasses ?? []
        return locked { released in
            guard let link = classes.lazy.compactMap({ links[ObjectIdentifier($0)] }).first else { return false }
            let registered = link.registered
            released.append(registered)
            guard registered == nil || registered === session else { return false }
            link.registered = session
            return true
        }
    }
}
#endif

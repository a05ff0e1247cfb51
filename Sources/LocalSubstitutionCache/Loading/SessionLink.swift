import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A link from a subclass of ``SubstitutionProtocol`` to the session whose configuration lists that subclass.
///
/// The app registers a session with `URLSession.registerForSubstitutions()`. On Linux, `URLSession.configuration` is
/// the live object, so registering a session adds a class to its configuration. On Apple's systems it is a copy, so the
/// configuration must list the class before the session is created.
///
/// A protocol cannot see its session or the session's configuration. But URL loading consults exactly the class that
/// the configuration lists, and creates instances of it. So each link has its own class, from which the library finds
/// the session.
///
/// The classes are specialisations of the generic `LinkedProtocol`. Their type arguments, `Zero` and `One`, have no
/// values and spell a number in binary. On Linux, each registered session gets a new class, because other
/// configurations may still list the class of an earlier session. Swift never frees such a class. To limit the number
/// of classes on Linux, several configurations may share one class until their sessions are registered. They share it
/// if they list the same other classes.
///
/// A copy of a registered session's configuration lists that session's class, too. So a session that is created from
/// the copy finds the wrong link, until the app registers the new session. `SubstitutionProtocol.receiver` detects most
/// tasks of such a session by their delegate.
// Mutable state is only accessed inside the lock.
final class SessionLink: @unchecked Sendable {
    let protocolClass: SubstitutionProtocol.Type
    /// The classes that the configuration lists after `protocolClass`; always empty on Apple's systems.
    ///
    /// On Apple's systems, this library does not need these classes. While a session is registered, its own
    /// configuration is read instead.
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
    /// The links that configurations share before a session is registered, keyed by ``others``; only used on Linux.
    private nonisolated(unsafe) static var sharedLinks: [[ObjectIdentifier]: SessionLink] = [:]

    /// Returns the link of a class; nil for ``SubstitutionProtocol`` itself.
    static func of(_ protocolClass: SubstitutionProtocol.Type) -> SessionLink? {
        lock.withLock { links[ObjectIdentifier(protocolClass)] }
    }

    /// Runs `body` inside the lock.
    ///
    /// After unlocking, this method releases the sessions that `body` has read or replaced. Reading a weak reference
    /// creates a strong one, which may become the last reference to the session. Releasing it deallocates the session,
    /// and perhaps objects of the app. Such objects may call this library, which would deadlock inside the lock. So
    /// `body` adds each session that it reads or replaces to the array `released`.
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
        // URLSession does not report its deallocation. So discard the backing sessions whose registered session is
        // gone.
        linksWithBackingSession.removeAll { link in
            let session = link.registered
            released.append(session)
            guard session == nil else { return false }
            link.backing?.finishAndInvalidate()
            released.append(link.backing)
            link.backing = nil
            return true
        }
        let link = SessionLink(protocolClass(Void.self, links.count + 1), others: others)
        links[ObjectIdentifier(link.protocolClass)] = link
        return link
    }

    /// The registered session; nil before it is registered and after it is deallocated.
    ///
    /// The caller gets the reference, so it is not released inside the lock.
    var session: URLSession? { Self.lock.withLock { registered } }

    /// The backing session, which loads as the registered session would; nil if no session is registered.
    ///
    /// It is created anew if the app has changed the registered session's configuration: see
    /// ``BackingSession/matches(_:)``.
    var backingSession: BackingSession? {
        Self.locked { released in
            guard let registered else { return nil }
            released.append(registered)
            if let backing, backing.matches(registered.configuration) { return backing }
            self.backing?.finishAndInvalidate()
            released.append(self.backing)
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
    /// The first class of this library in the list; nil if there is none.
    fileprivate var substitution: SubstitutionProtocol.Type? {
        lazy.compactMap { $0 as? SubstitutionProtocol.Type }.first
    }
}

// Each system adds and finds the classes in its own way: see ``SessionLink``. A test package for Linux defines
// APPLE_LOADING to run the code for Apple's systems.
#if canImport(FoundationNetworking) && !APPLE_LOADING
extension SessionLink {
    /// Returns the class for a configuration that also lists `others`.
    ///
    /// If `others` are only Foundation's own classes, the class is ``SubstitutionProtocol`` itself. This function
    /// registers no session: the app does that later, with the session that it creates from the configuration.
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

    /// Returns true if `configuration` is the object that a registered session uses, and false for a copy of it.
    static func isRegistered(_ configuration: URLSessionConfiguration) -> Bool {
        configuration.protocolClasses?.substitution.flatMap { of($0)?.session }?.configuration === configuration
    }

    /// Registers a session, and adds a new class to the session's configuration; returns true.
    ///
    /// Foundation reads the list of classes without this lock, so the session must not have tasks yet.
    static func register(_ session: URLSession) -> Bool {
        locked { released in
            let configuration = session.configuration
            var classes = configuration.protocolClasses ?? []
            let registered = classes.substitution.flatMap { links[ObjectIdentifier($0)]?.registered }
            released.append(registered)
            if registered === session { return true }
            // The new class takes the position of this library's first class in the list. If the list has no class of
            // this library, the new class goes before Foundation's classes, and so after the app's.
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

    /// Returns the class that would load `request` without this library; nil if no class can load it.
    static func nextClass(for request: URLRequest, behind link: SessionLink?) -> URLProtocol.Type? {
        let listed = link.flatMap { $0.session?.configuration.protocolClasses?.behindSubstitutions ?? $0.others }
        return SystemProtocols.first(for: request, behind: listed ?? [])
    }

    /// The class that is registered with `URLProtocol` while a cache is installed.
    static var registeredClass: SubstitutionProtocol.Type { SubstitutionProtocol.self }
}
#else
extension SessionLink {
    /// Returns false: on Apple's systems a session returns only copies of its configuration.
    static func isRegistered(_ configuration: URLSessionConfiguration) -> Bool { false }

    /// Returns a new class for a configuration, because no class can be added once its session exists.
    ///
    /// `others` do not matter here: on Apple's systems, a protocol cannot create an instance of another class.
    static func protocolClass(before others: [AnyClass]) -> SubstitutionProtocol.Type {
        locked { released in makeLink(&released).protocolClass }
    }

    /// The class that is registered with `URLProtocol`; Apple's systems consult it for the shared session only.
    static let registeredClass = locked { released in
        let link = makeLink(&released)
        link.registered = .shared
        return link.protocolClass
    }

    /// Registers a session with the link of a class that its configuration lists.
    ///
    /// Returns false if the configuration lists no such class, or if another session that still exists is registered
    /// with that class. For the shared session, returns true while a cache is installed.
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

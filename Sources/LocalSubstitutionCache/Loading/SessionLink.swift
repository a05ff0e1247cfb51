import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A link from a subclass of ``SubstitutionURLProtocol`` to the configuration that lists it.
///
/// A protocol cannot see its session or the session's configuration. But URL loading consults exactly the class that
/// the configuration lists, and creates instances of it. So each link has its own class, from which the library finds
/// what belongs to the configuration. On Linux, this is the list of the other classes. On Apple's systems, it is the
/// session that the app registers with `URLSession.registerForSubstitutions()`.
///
/// The classes are specialisations of the generic `LinkedProtocol`. Their type arguments, `Zero` and `One`, have no
/// values and spell a number in binary. Swift never frees such a class.
// Mutable state is only accessed inside the lock.
final class SessionLink: @unchecked Sendable {
    let protocolClass: SubstitutionURLProtocol.Type
    private static let lock = NSLock()
    private nonisolated(unsafe) static var links: [ObjectIdentifier: SessionLink] = [:]

    /// Returns the link of a class; nil for ``SubstitutionURLProtocol`` itself.
    static func of(_ protocolClass: SubstitutionURLProtocol.Type) -> SessionLink? {
        lock.withLock { links[ObjectIdentifier(protocolClass)] }
    }

    /// Returns a new class; called inside the lock.
    private static func makeClass() -> SubstitutionURLProtocol.Type {
        func protocolClass<Digits>(_ digits: Digits.Type, _ rest: Int) -> SubstitutionURLProtocol.Type {
            if rest == 0 { return LinkedProtocol<Digits>.self }
            return rest.isMultiple(of: 2)
                ? protocolClass(Zero<Digits>.self, rest / 2) : protocolClass(One<Digits>.self, rest / 2)
        }
        return protocolClass(Void.self, links.count + 1)
    }

    /// The classes that the configuration lists after ``protocolClass``.
    let others: [AnyClass]
    private weak var registered: URLSession?
    private var registeredFields: SessionFields?
    // Only Apple's systems need a second session: see BackingLoad.swift.
    #if !canImport(FoundationNetworking) || APPLE_LOADING
    private var backing: BackingSession?
    #endif

    private init(_ others: [AnyClass]) { (protocolClass, self.others) = (Self.makeClass(), others) }

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
    private static func makeLink(before others: [AnyClass], _ released: inout [AnyObject?]) -> SessionLink {
        // URLSession does not report its deallocation. So discard the backing sessions whose registered session is
        // gone.
        #if !canImport(FoundationNetworking) || APPLE_LOADING
        for link in links.values {
            guard let backing = link.backing else { continue }
            let session = link.registered
            released += [session, backing]
            if session != nil { continue }
            backing.finishAndInvalidate()
            link.backing = nil
        }
        #endif
        let link = SessionLink(others)
        links[ObjectIdentifier(link.protocolClass)] = link
        return link
    }

    /// The registered session; nil before it is registered and after it is deallocated.
    ///
    /// The caller gets the reference, so it is not released inside the lock.
    var session: URLSession? { Self.lock.withLock { registered } }

    /// The fields that the registered session adds to its requests; nil if no session has been registered.
    var fields: SessionFields? { Self.lock.withLock { registeredFields } }

    /// Returns a new class for a configuration, because no class can be added once its session exists.
    static func protocolClass(before others: [AnyClass]) -> SubstitutionURLProtocol.Type {
        locked { released in makeLink(before: others, &released).protocolClass }
    }

    /// Links a session to this link's class; returns false if another session that still exists is linked.
    ///
    /// Called inside the lock.
    private func link(_ session: URLSession, _ released: inout [AnyObject?]) -> Bool {
        let last = registered
        released.append(last)
        guard last == nil || last === session else { return false }
        (registered, registeredFields) = (session, SessionFields(session.configuration))
        return true
    }

    // On Linux a session's configuration is the live object; on Apple's systems a session returns only copies of it. A
    // test package for Linux defines APPLE_LOADING to run the code for Apple's systems.
    #if canImport(FoundationNetworking) && !APPLE_LOADING
    /// Registers a session with the link of a class that its configuration lists.
    ///
    /// If the configuration lists no such class, one is added before Foundation's classes, and so after the app's.
    /// Foundation reads the list of classes without a lock, so the session must not have tasks yet.
    static func register(_ session: URLSession) throws {
        var classes = session.configuration.protocolClasses ?? []
        if !classes.contains(where: { $0 is any SubstitutingClass.Type }) {
            let place = classes.firstIndex(where: SystemProtocols.contains) ?? classes.endIndex
            classes.insert(protocolClass(before: Array(classes[place...])), at: place)
            session.configuration.protocolClasses = classes
        }
        locked { released in
            guard let link = classes.lazy.compactMap({ links[ObjectIdentifier($0)] }).first else { return }
            // A protocol cannot tell two sessions of one class from each other, and they may add different fields.
            if !link.link(session, &released) { link.registeredFields = nil }
        }
    }

    /// The class that is registered with `URLProtocol` while a cache is installed.
    static var registeredClass: SubstitutionURLProtocol.Type { SubstitutionURLProtocol.self }
    #else
    /// The backing session, which loads as the registered session would; nil if no session is registered.
    var backingSession: BackingSession? {
        Self.locked { released in
            guard let registered else { return nil }
            released.append(registered)
            let session = backing ?? BackingSession(like: registered.configuration)
            backing = session
            return session
        }
    }

    /// The class that is registered with `URLProtocol`; Apple's systems consult it for the shared session only.
    static let registeredClass = locked { released in
        let link = makeLink(before: [], &released)
        _ = link.link(.shared, &released)
        return link.protocolClass
    }

    /// Registers a session with the link of a class that its configuration lists.
    ///
    /// - Throws: ``RegistrationError`` if the configuration lists no such class, or if another session that exists is
    ///   registered with that class. The shared session is registered while a cache is installed.
    static func register(_ session: URLSession) throws {
        if session === URLSession.shared, Installation.current != nil { return }
        let classes = session.configuration.protocolClasses ?? []
        let isLinked = locked { released in
            classes.lazy.compactMap { links[ObjectIdentifier($0)] }.first?.link(session, &released)
        }
        if isLinked != true { throw RegistrationError(description: isLinked == nil ? Self.unlisted : Self.taken) }
    }

    private static let unlisted =
        "useSubstitutions() was not called on the session's configuration before the session was created (for "
        + "URLSession.shared, call install() of a cache)"
    private static let taken = "another registered session has this configuration; give each one of its own"
    #endif
}

/// The reason why a session cannot be registered.
struct RegistrationError: LocalizedError, CustomStringConvertible {
    let description: String
    var errorDescription: String? { description }
}

private enum Zero<Digits> {}
private enum One<Digits> {}

/// The protocol class of one link.
private final class LinkedProtocol<Number>: SubstitutionURLProtocol {
    override class var link: SessionLink? { SessionLink.of(Self.self) }
}

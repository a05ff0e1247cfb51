// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
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
    /// The classes that the configuration lists behind this one; those of a named session can be asked.
    private let others: [AnyClass]
    private weak var named: URLSession?
    private var inner: InnerSession?

    private init(_ protocolClass: SubstitutionProtocol.Type, others: [AnyClass]) {
        (self.protocolClass, self.others) = (protocolClass, others)
    }

    private static let lock = NSLock()
    /// Those with an inner session.
    private nonisolated(unsafe) static var loading: [SessionLink] = []
    private nonisolated(unsafe) static var links: [ObjectIdentifier: SessionLink] = [:]
    /// Those that configurations share, by the other classes; only used on Linux.
    private nonisolated(unsafe) static var unnamed: [[ObjectIdentifier]: SessionLink] = [:]

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
            let session = link.named
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

    /// The session, if the app has named it and it has not ended.
    var session: URLSession? { Self.lock.withLock { named } }

    /// The session of the library's own that loads as the named one would; nil for a session that is not known.
    var innerSession: InnerSession? {
        Self.locked { seen in
            guard let named else { return nil }
            seen.append(named)
            if let inner, inner.isLike(named.configuration) { return inner }
            inner?.end()
            let inner = InnerSession(like: named.configuration)
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
    /// Without this library's.
    fileprivate var withoutSubstitutions: [AnyClass] { filter { !($0 is SubstitutionProtocol.Type) } }

    /// This library's, if there is one.
    fileprivate var substitution: SubstitutionProtocol.Type? {
        lazy.compactMap { $0 as? SubstitutionProtocol.Type }.first
    }

    /// The classes behind this library's.
    fileprivate var behindSubstitutions: [AnyClass] {
        Array(drop { !($0 is SubstitutionProtocol.Type) }).withoutSubstitutions
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

// Foundation on Linux hands out the very configuration that a session works with, and Apple's a copy. So on Linux
// naming a session puts a class of its own into it; on Apple's systems the class that is named must be there already.
#if canImport(FoundationNetworking)
extension SessionLink {
    /// The class for a configuration that lists these other ones; sessions made with it are not known.
    fileprivate static func protocolClass(before others: [AnyClass]) -> SubstitutionProtocol.Type {
        if others.allSatisfy({ isSystemClass($0) }) { return SubstitutionProtocol.self }
        return locked { seen in
            let key = others.map { ObjectIdentifier($0) }
            if let link = unnamed[key] { return link.protocolClass }
            let link = make(others: others, &seen)
            unnamed[key] = link
            return link.protocolClass
        }
    }

    /// Whether this is the configuration of a named session, and not one that was copied from it.
    fileprivate static func isNamed(_ configuration: URLSessionConfiguration) -> Bool {
        configuration.protocolClasses?.substitution.flatMap { of($0)?.session }?.configuration === configuration
    }

    fileprivate static func name(_ session: URLSession) -> Bool {
        locked { seen in
            let configuration = session.configuration
            var classes = configuration.protocolClasses ?? []
            let named = classes.substitution.flatMap { links[ObjectIdentifier($0)]?.named }
            seen.append(named)
            if named === session { return true }
            // Behind the app's own classes, unless it has put this library's before them.
            let isOwn = { (each: AnyClass) in each is SubstitutionProtocol.Type }
            let place = classes.firstIndex(where: isOwn) ?? classes.firstIndex(where: isSystemClass) ?? classes.endIndex
            classes.removeAll(where: isOwn)
            let link = make(others: Array(classes[place...]), &seen)
            link.named = session
            classes.insert(link.protocolClass, at: place)
            configuration.protocolClasses = classes
            return true
        }
    }

    /// The class that would load `request` if this library were not there; nil for none.
    static func nextClass(for request: URLRequest, behind link: SessionLink?) -> URLProtocol.Type? {
        let listed = link.flatMap { $0.session?.configuration.protocolClasses?.behindSubstitutions ?? $0.others }
        let classes = (listed ?? []) + systemClasses
        return classes.lazy.compactMap { $0 as? URLProtocol.Type }.first { $0.canInit(with: request) }
    }

    static var registeredClass: SubstitutionProtocol.Type { SubstitutionProtocol.self }

    static func isSystemClass(_ protocolClass: AnyClass) -> Bool { systemClasses.contains { $0 == protocolClass } }

    private static let systemClasses = (URLSessionConfiguration.default.protocolClasses ?? []).withoutSubstitutions
}
#else
extension SessionLink {
    /// Apple's systems hand out copies.
    fileprivate static func isNamed(_ configuration: URLSessionConfiguration) -> Bool { false }

    fileprivate static func protocolClass(before others: [AnyClass]) -> SubstitutionProtocol.Type {
        locked { seen in make(&seen).protocolClass }
    }

    /// The class that is registered; Apple's systems ask it for the shared session only.
    static let registeredClass = locked { seen in
        let link = make(&seen)
        link.named = .shared
        return link.protocolClass
    }

    fileprivate static func name(_ session: URLSession) -> Bool {
        if session === URLSession.shared { return Installation.current != nil }
        let classes = session.configuration.protocolClasses ?? []
        return locked { seen in
            guard let link = classes.lazy.compactMap({ links[ObjectIdentifier($0)] }).first else { return false }
            let named = link.named
            seen.append(named)
            guard named == nil || named === session else { return false }
            link.named = session
            return true
        }
    }
}
#endif

extension URLSessionConfiguration {
    /// Puts ``SubstitutionProtocol`` first, so that sessions made with this configuration are answered by it.
    ///
    /// May be called before ``LocalSubstitutionCache/install(archive:)``, and more than once; call it again after other
    /// changes of `protocolClasses`. The class it puts there is a subclass, by which the library knows which other
    /// classes stand behind it.
    ///
    /// On Linux a `urlCache` of Foundation's own class, unless it is the shared one, is put behind one of this
    /// library's, which passes everything on but what a file answers.
    ///
    /// This is enough for entries without `when`. For entries with it, and for an archive, name the session, too, if it
    /// has a delegate: `URLSession` has a method of the same name.
    public func useSubstitutions() {
        if SessionLink.isNamed(self) { return }
        let others = (protocolClasses ?? []).withoutSubstitutions
        protocolClasses = [SessionLink.protocolClass(before: others)] + others
        // Only Foundation on Linux asks the cache for what a protocol loads.
        #if canImport(FoundationNetworking)
        FrontCache.install(in: self)
        #endif
    }
}

extension URLSession {
    /// Names this session to the library: what is loaded behind a condition, or for an archive, is then loaded with its
    /// configuration, and delivered to its delegate part by part.
    ///
    /// ```swift
    /// let configuration = URLSessionConfiguration.default
    /// configuration.useSubstitutions()
    /// let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    /// session.useSubstitutions()
    /// ```
    ///
    /// Without it, nothing but the app's own task can load as the session would, and so the network's answer stands
    /// wherever a delegate may have got some of it. <doc:WhenTheCacheIsAsked> has the table.
    ///
    /// On Linux the library's class takes the place that it has among the protocol classes, or comes behind those of
    /// the app: a stub that the app put first stays first.
    ///
    /// Call it before the session's first task. The session is not kept. A session that is made from this one's
    /// configuration has to be named itself, before its first task: else it may load with the configuration of this
    /// one. Each named session costs about 1.3 KB that is not freed when it ends, and what was made for it is freed
    /// when the next one is named.
    ///
    /// - Returns: Whether the session asks ``SubstitutionProtocol``. Always on Linux, also without the line about the
    ///   configuration. On Apple's platforms only if its configuration had `useSubstitutions()` called on it, and no
    ///   other living session with that configuration is named.
    @discardableResult
    public func useSubstitutions() -> Bool { SessionLink.name(self) }
}

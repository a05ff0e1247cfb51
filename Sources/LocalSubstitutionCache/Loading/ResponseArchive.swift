// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// The archive that an app installs together with a cache.
///
/// The loads know only this protocol, so an app without an archive does not link the archive's code.
package protocol ResponseArchive: AnyObject, Sendable {
    /// True if responses for URLs of network-first entries may be kept, too.
    var keepsNetworkFirst: Bool { get }

    /// Returns whether the response to a request may be kept and replayed.
    ///
    /// - Parameter request: The request with the fields of its session: see ``SessionFields``.
    /// - Returns: True if it may.
    func accepts(_ request: URLRequest) -> Bool

    /// Counts a request that was refused for its header fields or cookies; other requests do not count.
    func countRefusal(of request: URLRequest)

    /// Returns a new load that begins now, while the manifest has this `$version`.
    func begin(_ request: URLRequest, version: Int64) -> any ArchivedLoad
}

extension ResponseArchive {
    /// Returns this archive if it keeps responses to such requests; it may still refuse this one.
    func keeping(_ request: URLRequest, _ decision: Decision) -> (any ResponseArchive)? {
        if case .unnamed = decision { return request.cachePolicy == .optOut ? nil : self }
        return decision.networkFirst != nil && keepsNetworkFirst ? self : nil
    }
}

/// A load from the network whose response an archive may keep, and which the last good copy may answer offline.
package protocol ArchivedLoad: AnyObject, Sendable {
    /// Returns the last good copy, unless it was removed after it was read; nil if there is none.
    ///
    /// Cost: reads a file, unless ``readCopy(then:)`` has read it.
    ///
    /// - Parameter outcome: What the network did; the copy's `Cache-Status` says so.
    /// - Returns: The copy.
    func copy(after outcome: NetworkOutcome) -> LastGoodCopy?

    /// Reads the last good copy on a queue of the archive, and then calls `body` on that queue.
    ///
    /// - Returns: False if the copy has been read before; then `body` is not called.
    func readCopy(then body: @escaping @Sendable () -> Void) -> Bool

    /// Records the response's head, unless it is nil or not HTTP; after the first head, the call has no effect.
    func receive(_ response: URLResponse?)

    /// Records a redirect.
    ///
    /// - Parameters:
    ///   - response: The redirect; nil if URL loading does not show it.
    ///   - next: The request that follows, with the fields of its session.
    func redirect(_ response: HTTPURLResponse?, to next: URLRequest)

    /// Reserves memory for `count` more bytes of the body; returns false if the archive will not keep the body.
    func hasRoom(for count: Int) -> Bool

    /// Releases the body's memory, and remembers why the body is not kept; a second reason is ignored.
    func refuse(_ reason: MissingBody)

    /// Passes the response to the archive, or counts the reason why the response is not kept.
    ///
    /// - Parameter body: The whole body; nil if it is not available.
    func finish(_ body: Data?)

    /// Counts the response as one that does not pass through this library.
    func countUnseen()
}

/// A response that an archive has kept.
///
/// Also the time at which it was received, and the `$version` of the manifest when its load began.
package typealias LastGoodCopy = (response: CachedURLResponse, date: Date, version: Int64)

/// The reason why the body of a response is not available.
package enum MissingBody {
    /// Parts of the body may be missing, or belong to another response.
    case incomplete
    /// The body is delivered to the app directly.
    case unseen
    /// A server has asked for a credential, so the response may be for one user.
    case challenged
}

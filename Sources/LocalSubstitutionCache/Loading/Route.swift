/// The way in which ``SubstitutionProtocol`` loads a request; the initialiser chooses it.
///
/// The next protocol class is the one that would load the request without this library.
enum Route: Hashable, Sendable {
    /// The file is delivered.
    case file
    /// The next protocol class loads in the app's own task, and the app receives the network's response.
    case network
    /// The next protocol class loads in the app's own task.
    ///
    /// A file or copy may answer instead, as long as the app has received nothing.
    case ownTask
    /// A backing session loads, and a file or copy may answer instead.
    case backingSession
    /// No loader can handle the request.
    case none

    /// The outcomes after which a file or an archived copy may answer.
    enum FallbackNeed: CaseIterable {
        case none
        case file
        /// A file or copy may answer, but only without a connection.
        case whenOffline
        /// The network's response matters: a file or copy may answer in its place, or an archive keeps it.
        case afterAnswer
    }

    enum Kind: CaseIterable {
        case data
        case upload
        case download
    }

    /// The kind of the next protocol class: the system's, one of the app's own, or none.
    enum Next: CaseIterable {
        case none
        case system
        case app
    }

    /// The recipient of a body that is received in parts.
    enum Receiver: CaseIterable {
        /// An unknown recipient: the session is not registered.
        ///
        /// On Linux, the recipient is also unknown if the session's delegate is not a data delegate, or if the task has
        /// a delegate of its own.
        case unknown
        /// The delegate of a registered session, or a completion handler in such a session.
        case registered
    }

    // Two facts hold on Linux only: a URL protocol can load in the app's own task, and the process crashes if a custom
    // URL protocol finishes a download.
    #if canImport(FoundationNetworking) && !APPLE_LOADING
    /// Chooses the route of one load.
    ///
    /// The system's class gives a body directly to a delegate, and bypasses this library. So if a file or copy may
    /// answer a delegate after the network has responded, the request is loaded in a backing session.
    init(_ need: FallbackNeed, _ kind: Kind, next: @autoclosure () -> Next, receiver: @autoclosure () -> Receiver) {
        if need == .file, kind != .download {
            self = .file
            return
        }
        let next = next()
        if next == .none {
            self = .none
        } else if kind == .download || need == .none {
            self = .network
        } else if need == .afterAnswer, kind == .data, next == .system, receiver() == .registered {
            self = .backingSession
        } else {
            self = .ownTask
        }
    }
    #else
    /// Chooses the route of one load.
    init(_ need: FallbackNeed, _ kind: Kind, next: @autoclosure () -> Next, receiver: @autoclosure () -> Receiver) {
        self = need == .file ? .file : receiver() == .registered ? .backingSession : .none
    }
    #endif
}

/// The way in which ``SubstitutionProtocol`` loads a request, decided here alone.
enum Route: Hashable, Sendable {
    /// The file is delivered.
    case file
    /// The task loads by the class behind this library's, and the network's answer stands.
    case network
    /// The same, but a file or copy may answer before the app has got anything.
    case ownTask
    /// A session like the app's loads, and a file or copy may answer.
    case innerSession
    /// Nothing can load.
    case none

    /// What the installed cache and archive say of the request.
    enum Service: CaseIterable {
        case none
        case file
        /// A file or copy for the lack of a connection alone.
        case whenOffline
        /// A file or copy for an answer of the network, too, or an archive that keeps the answer.
        case afterAnswer
    }

    enum Kind: CaseIterable {
        case data
        case upload
        case download
    }

    /// The class behind this library's that takes the request.
    enum Next: CaseIterable {
        case none
        case system
        case app
    }

    /// Who gets a body that comes in parts.
    enum Receiver: CaseIterable {
        /// Nobody that the library knows: the session is not registered, its delegate receives no data, or the task has
        /// a delegate of its own.
        case unknown
        /// The delegate of a registered session, or a completion handler there.
        case registered
    }

    // Only Foundation on Linux lets a protocol load in the app's own task, and ends the process when a protocol of the
    // app's finishes a download.
    #if canImport(FoundationNetworking) && !APPLE_LOADING
    /// Decides on one load.
    ///
    /// The system's class gives bodies to a delegate past this library, so that an answer can only be replaced in the
    /// inner session.
    init(_ service: Service, _ kind: Kind, next: @autoclosure () -> Next, receiver: @autoclosure () -> Receiver) {
        if service == .file, kind != .download {
            self = .file
            return
        }
        let next = next()
        if next == .none {
            self = .none
        } else if kind == .download || service == .none {
            self = .network
        } else if service == .afterAnswer, kind == .data, next == .system, receiver() == .registered {
            self = .innerSession
        } else {
            self = .ownTask
        }
    }
    #else
    /// Decides on one load.
    init(_ service: Service, _ kind: Kind, next: @autoclosure () -> Next, receiver: @autoclosure () -> Receiver) {
        self = service == .file ? .file : receiver() == .registered ? .innerSession : .none
    }
    #endif
}

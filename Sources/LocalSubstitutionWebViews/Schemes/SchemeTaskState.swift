/// The state of a `WKURLSchemeTask`.
///
/// The state decides which calls WebKit allows next (WebKit's `WebURLSchemeTask.cpp`). At any other call, WebKit
/// crashes the process with an exception that Swift cannot catch. So check ``allows(_:)`` before each call, and do not
/// `await` anything between the check and the call.
struct SchemeTaskState {
    /// A call that a handler makes on a task.
    enum Call: CaseIterable {
        case response
        case data
        case finish
        case fail
    }

    private enum Phase {
        case begun
        case hasResponse
        case hasData
        case ended
    }

    private var phase = Phase.begun

    /// Returns true if the task allows this call, and records the call as made.
    mutating func allows(_ call: Call) -> Bool {
        switch (phase, call) {
        case (.begun, .response), (.hasResponse, .response): phase = .hasResponse
        case (.hasResponse, .data), (.hasData, .data): phase = .hasData
        case (.hasResponse, .finish), (.hasData, .finish): phase = .ended
        case (.begun, .fail), (.hasResponse, .fail), (.hasData, .fail): phase = .ended
        default: return false
        }
        return true
    }

    /// Records that the web view has stopped the task; from then on, no call is allowed.
    mutating func stop() { phase = .ended }
}

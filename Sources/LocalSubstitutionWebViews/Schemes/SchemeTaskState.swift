/// Which calls a web view's task allows next (WebKit's `WebURLSchemeTask.cpp`).
///
/// WebKit ends the process at any other call, with an exception that Swift cannot catch; so each call goes through
/// this, and no `await` stands between the question and the call.
struct SchemeTaskState {
    /// What a handler may tell a task.
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

    /// Whether the task allows this call; if so, it counts as made.
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

    /// Notes that the web view has stopped the task, which allows nothing from then on.
    mutating func stop() { phase = .ended }
}

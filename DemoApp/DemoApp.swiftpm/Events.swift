import LocalSubstitutionCache
import SwiftUI

/// The app's loads, as the cache reports them.
@MainActor
final class Events: ObservableObject {
    struct Line: Identifiable {
        let id: Int
        let text: String
    }

    @Published private(set) var lines: [Line] = []

    private var isFollowing = false

    /// Lists each load from now on, the last one first; further calls have no effect.
    func follow(_ cache: SubstitutionCache) {
        guard !isFollowing else { return }
        isFollowing = true
        let events = cache.events
        Task { for await event in events { add(event) } }
    }

    private func add(_ event: RequestEvent) { lines.insert(Line(id: lines.count, text: "\(event)"), at: 0) }
}

/// Shows the app's loads, the last one first.
struct EventsPage: View {
    @ObservedObject var events: Events

    var body: some View {
        List(events.lines) { Text($0.text).font(.caption).monospaced() }
    }
}

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

    /// Lists each load from now on, the last one first.
    func follow(_ cache: SubstitutionCache) {
        cache.onRequest = { [weak self] event in
            Task { @MainActor [weak self] in self?.add(event) }
        }
    }

    private func add(_ event: RequestEvent) {
        let text =
            switch event {
            case .hit(let url, let substitution): "\(url): \(substitution.file)"
            case .miss(let url): "\(url): no file, at least not before the network"
            case .fallback(let url, let substitution):
                "\(url): \(substitution?.file ?? "a copy"), after the network"
            }
        lines.insert(Line(id: lines.count, text: text), at: 0)
    }
}

/// Shows the app's loads, the last one first.
struct EventsPage: View {
    @ObservedObject var events: Events

    var body: some View {
        List(events.lines) { Text($0.text).font(.caption).monospaced() }
    }
}

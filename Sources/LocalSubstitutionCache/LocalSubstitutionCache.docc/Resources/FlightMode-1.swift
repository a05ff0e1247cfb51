import SwiftUI

struct ContentView: View {
    @State private var text = "Loading…"

    var body: some View {
        ScrollView {
            Text(text).monospaced().padding()
        }
        .task { await load() }
    }

    private func load() async {
        guard let page = URL(string: "https://example.com/") else { return }
        do {
            let (data, _) = try await URLSession.shared.data(from: page)
            text = String(decoding: data, as: UTF8.self)
        } catch {
            text = error.localizedDescription
        }
    }
}

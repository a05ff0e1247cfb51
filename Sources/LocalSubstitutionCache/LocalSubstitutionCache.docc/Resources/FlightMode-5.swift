import SwiftUI

struct ContentView: View {
    @State private var text = "Loading…"
    @State private var source = ""

    var body: some View {
        ScrollView {
            Text(source).bold()
            Text(text).monospaced().padding()
        }
        .task { await load() }
    }

    private func load() async {
        guard let page = URL(string: "https://example.com/") else { return }
        do {
            let (data, response) = try await URLSession.shared.data(from: page)
            let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status")
            let isFile = status?.hasPrefix("LocalSubstitutionCache; hit") == true
            source = isFile ? "from the app" : "from the network"
            text = String(decoding: data, as: UTF8.self)
        } catch {
            text = error.localizedDescription
        }
    }
}

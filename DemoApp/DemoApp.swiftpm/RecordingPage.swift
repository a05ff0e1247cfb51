import LocalSubstitutionDevelopment
import SwiftUI

/// Shows what the app has asked for, as it asks for it.
struct RecordingPage: View {
    let recording: Recording
    @State private var text = ""

    var body: some View {
        ScrollView {
            Text(text).monospaced().frame(maxWidth: .infinity, alignment: .leading).padding()
        }
        .task {
            while !Task.isCancelled {
                text = recording.summary.description
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }
}

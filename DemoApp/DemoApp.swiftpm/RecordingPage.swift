import LocalSubstitutionDevelopment
import SwiftUI

/// Shows the requests that the app has made, and updates the text every second.
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

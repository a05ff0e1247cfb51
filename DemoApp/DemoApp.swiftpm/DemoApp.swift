import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SwiftUI

/// Shows three pictures of a site that does not exist, each loaded in several ways.
@main
struct DemoApp: App {
    /// The installed cache, or the mistakes in the manifest.
    private let cache: Result<SubstitutionCache, ManifestError>
    /// The recording of the app's requests; nil in a shipped app.
    ///
    /// Xcode's Devices window copies the recording's file to the Mac.
    private let recording: Recording?
    @StateObject private var events = Events()

    init() {
        cache = Result { () throws(ManifestError) in
            try SubstitutionCache(bundle: .module, newerFolder: NewerFolder.place)
        }
        (try? cache.get())?.install()
        // A shipped app records nothing.
        #if DEBUG
        recording = try? cache.get().record(to: .documentsDirectory.appending(path: "app.har"))
        #else
        recording = nil
        #endif
    }

    var body: some Scene {
        WindowGroup {
            NavigationStack {
                switch cache {
                case .failure(let problem):
                    ScrollView { Text(problem.description).monospaced().padding() }
                case .success(let cache):
                    Pictures()
                        .onAppear { events.follow(cache) }
                        .toolbar {
                            NavigationLink("Loads") { EventsPage(events: events).navigationTitle("Loads") }
                            NavigationLink("Newer") {
                                NewerPage(folder: NewerFolder(cache: cache)).navigationTitle("A newer folder")
                            }
                            NavigationLink("In a web view") {
                                WebPicturePage(cache: cache).navigationTitle("A mirror")
                            }
                            if let recording {
                                NavigationLink("Asked for") {
                                    RecordingPage(recording: recording).navigationTitle("Asked for")
                                }
                            }
                        }
                }
            }
        }
    }
}

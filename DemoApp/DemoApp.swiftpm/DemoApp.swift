import LocalSubstitutionCache
import SwiftUI

/// Shows three pictures of a site that does not exist, each loaded in several ways.
@main
struct DemoApp: App {
    /// The installed cache, or what was wrong with the manifest.
    private let cache: Result<LocalSubstitutionCache, ManifestError>

    init() {
        cache = Result { () throws(ManifestError) in try LocalSubstitutionCache(bundle: .module) }
        (try? cache.get())?.install()
    }

    var body: some Scene {
        WindowGroup {
            NavigationStack {
                switch cache {
                case .failure(let problem):
                    ScrollView { Text(problem.description).monospaced().padding() }
                case .success(let cache):
                    Pictures()
                        .toolbar {
                            NavigationLink("In a web view") {
                                WebPicturePage(cache: cache).navigationTitle("A mirror")
                            }
                        }
                }
            }
        }
    }
}

import LocalSubstitutionCache
import SwiftUI

/// Shows three pictures of a site that does not exist, each loaded in three ways.
@main
struct DemoApp: App {
    /// What was wrong with the manifest; nil when the cache is installed.
    private let problem: String?

    init() {
        do {
            try LocalSubstitutionCache(bundle: .module).install()
            problem = nil
        } catch {
            problem = error.description
        }
    }

    var body: some Scene {
        WindowGroup {
            NavigationStack {
                if let problem {
                    ScrollView { Text(problem).monospaced().padding() }
                } else {
                    Pictures()
                }
            }
        }
    }
}

import LocalSubstitutionCache
import SwiftUI

@main
struct FlightModeApp: App {
    init() {
        do {
            try SubstitutionCache(bundle: .main).install()
        } catch {
            print(error)
        }
    }

    var body: some Scene {
        WindowGroup { ContentView() }
    }
}

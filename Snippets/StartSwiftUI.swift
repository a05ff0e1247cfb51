// SwiftUI exists on Apple's platforms only.
#if canImport(SwiftUI)
import LocalSubstitutionCache
import SwiftUI

@main
struct MyApp: App {
    init() {
        (try? SubstitutionCache(bundle: .main))?.install()
    }

    var body: some Scene {
        WindowGroup { ContentView() }
    }
}

struct ContentView: View {
    var body: some View { Text("Hello") }
}
#else
// Every snippet is built as a program, which needs an entry point.
@main
struct Nothing {
    static func main() {}
}
#endif

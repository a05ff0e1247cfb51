// UIKit exists on some of Apple's platforms only.
#if canImport(UIKit) && !os(watchOS)
import LocalSubstitutionCache
import UIKit

@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        (try? SubstitutionCache(bundle: .main))?.install()
        return true
    }
}
#else
// Every snippet is built as a program, which needs an entry point.
@main
struct Nothing {
    static func main() {}
}
#endif

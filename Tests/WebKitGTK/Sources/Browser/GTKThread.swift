import CWebKitGTK
import Foundation
import TestSupport

/// The thread for all calls to GTK.
///
/// GTK must be called on the thread that used it first. This cannot be the main thread, because Swift Testing occupies
/// that thread.
enum GTKThread {
    /// Runs a closure on GTK's thread, and returns its result.
    static func perform<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await start()
        return try await withCheckedThrowingContinuation { continuation in
            post { continuation.resume(with: Result { try body() }) }
        }
    }

    /// Runs a closure on GTK's thread at the next opportunity, without waiting for it.
    static func post(_ body: @escaping @Sendable () -> Void) {
        let run: GSourceFunc = { data in
            Box<Void>.take(data)(())
            return 0
        }
        g_idle_add_full(G_PRIORITY_DEFAULT, run, Box<Void> { body() }.retained, nil)
    }

    private static func start() async throws { try await starting.value }

    private static let starting = Task {
        // When a page is closed, WebKit closes the pipes from which the page reads. A write to such a pipe must not
        // kill the process.
        signal(SIGPIPE, SIG_IGN)
        // WebKit's threads still run while `exit` destroys what they use, and may crash
        // (https://bugs.webkit.org/show_bug.cgi?id=315115). So the process ends without that, and without the handlers
        // that were registered before.
        on_exit(
            { status, _ in
                try? FileManager.default.removeItem(at: TemporaryFolder.ofProcess)
                fflush(nil)
                _exit(status)
            },
            nil
        )
        let display = try Display()
        setenv("DISPLAY", display.name, 1)
        for (name, value) in [
            ("GDK_BACKEND", "x11"), ("LIBGL_ALWAYS_SOFTWARE", "1"), ("WEBKIT_DISABLE_DMABUF_RENDERER", "1"),
            ("WEBKIT_DISABLE_COMPOSITING_MODE", "1"), ("NO_AT_BRIDGE", "1"), ("GTK_A11Y", "none"),
        ] {
            setenv(name, value, 1)
        }
        let isReady: Bool = await withCheckedContinuation { continuation in
            let thread = Thread {
                let isReady = gtk_init_check(nil, nil) != 0
                continuation.resume(returning: isReady)
                if isReady { gtk_main() }
            }
            thread.stackSize = 8 << 20
            thread.start()
        }
        if !isReady { throw BrowserError("GTK finds no display \(display.name)") }
    }
}

/// The reason why a page cannot be shown.
struct BrowserError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

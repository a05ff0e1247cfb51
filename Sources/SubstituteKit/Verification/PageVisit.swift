import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Observations of a page that was loaded once.
struct PageVisit: Sendable {
    /// A picture of the whole page, as PNG in base64.
    let picture: String
    /// The errors that scripts and the browser reported.
    let complaints: [String]
    /// Sentences about what was kept from the page.
    let notes: [String]
    /// The status of the server's answer for the page; nil when a file answered.
    let status: Int?

    /// The way in which a page is visited.
    struct Manner: Sendable {
        let load: LoadManner
        /// CSS selectors of what is not compared.
        let masks: [String]
    }

    /// Loads a page in a browser that was started for it, and takes its picture.
    ///
    /// - Throws: ``ToolError`` when it cannot be loaded.
    init(_ url: String, in browser: Browser, _ manner: Manner, _ complaints: Complaints) async throws {
        try await browser.load(url, manner.load)
        // Those that taking the picture brings about are none of the page's.
        self.complaints = complaints.all
        picture = try await browser.picture(without: manner.masks)
        (notes, status) = (await browser.notes, await browser.status)
    }

    /// Collects what a page complains of.
    // Mutable state is only accessed inside the lock.
    final class Complaints: @unchecked Sendable {
        private let lock = NSLock()
        private var list: [String] = []

        /// The most that are kept: a page may complain without end.
        private static let limit = 1000

        var all: [String] { lock.withLock { list } }

        func receive(_ happening: Browser.Happening) {
            guard case .complaint(let words) = happening else { return }
            lock.withLock { if list.count < Self.limit { list.append(words) } }
        }
    }
}

extension Browser {
    /// A picture of the whole page, in which nothing moves.
    ///
    /// - Parameter masks: CSS selectors of what is left out.
    /// - Returns: PNG in base64.
    /// - Throws: ``UsageError`` for one that is none.
    func picture(without masks: [String]) async throws -> String {
        let list = String(decoding: try JSONEncoder().encode(masks), as: UTF8.self)
        let wrong = try await value(of: "(\(Self.stillness))(\(list))", String.self)
        if !wrong.isEmpty { throw UsageError("\(quoted(wrong)) is no CSS selector") }
        // What has just become invisible is painted first.
        try await Task.sleep(nanoseconds: 100_000_000)
        struct Metrics: Decodable {
            struct Size: Decodable {
                let width: Double
                let height: Double
            }
            let cssContentSize: Size
        }
        struct Screenshot: Decodable { let data: String }
        let size = try await run("Page.getLayoutMetrics", [:], Metrics.self).cssContentSize
        let limit = Self.maximumSide / (settings.device?.scale ?? 1)
        let (width, height) = (min(max(1, size.width), limit), min(max(1, size.height), limit))
        if height < size.height || width < size.width { note("the picture is cut to \(Int(width)) × \(Int(height))") }
        let clip: [String: any Sendable] = ["x": 0, "y": 0, "width": width, "height": height, "scale": 1]
        return try await run(
            "Page.captureScreenshot",
            ["format": "png", "captureBeyondViewport": true, "clip": clip],
            Screenshot.self
        ).data
    }

    /// The most pixels of a picture's side: graphics hardware knows no larger ones.
    private static let maximumSide = 16_000.0

    /// Ends animations and hides what is masked; returns the selector that is none.
    private static let stillness = """
        masks => {
          for (const mask of masks) {
            try { document.querySelector(mask); } catch { return mask || "(empty)"; }
          }
          for (const animation of document.getAnimations()) {
            try { animation.finish(); } catch { animation.cancel(); }
          }
          const sheet = new CSSStyleSheet();
          sheet.replaceSync("*, *::before, *::after { transition: none !important; caret-color: transparent !important; "
            + "scroll-behavior: auto !important; } "
            + masks.map(mask => `${mask} { opacity: 0 !important; }`).join(" "));
          document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
          return "";
        }
        """
}

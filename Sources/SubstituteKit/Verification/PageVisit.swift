import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The observations from one load of a page.
struct PageVisit: Sendable {
    /// A screenshot of the whole page, as PNG in base64.
    let picture: String
    /// The errors that scripts and the browser reported.
    let complaints: [ReportedError]
    /// Sentences for the user, for example about a refused download, a closed pop-up, or a cropped screenshot.
    let notes: [String]
    /// The status of the server's response for the page; nil if a file answered.
    let status: Int?
    /// The sentence that says why the page is not complete; nil for a complete page.
    let incompleteness: String?

    /// The options for loading a page and for taking its screenshot.
    struct Manner: Sendable {
        var load: LoadOptions
        /// CSS selectors of the elements that are not compared.
        let masks: [String]
    }

    /// Loads a page in a newly started browser and takes a screenshot.
    ///
    /// - Throws: ``ToolError`` if the page cannot be loaded.
    init(_ url: String, in browser: Browser, _ manner: Manner, _ loads: LoadList) async throws {
        try await browser.load(url, manner.load)
        // Taking the screenshot of the whole page may itself cause loads, which count in neither of the two visits.
        picture = try await browser.picture(without: manner.masks) { loads.cut() }
        complaints = await browser.complaints
        (incompleteness, status) = (await browser.incompleteness, await browser.status)
        notes = await browser.notes.filter { [incompleteness] in $0 != incompleteness }
    }
}

extension Browser {
    /// Takes a screenshot of the whole page, with all animations ended.
    ///
    /// A page may still change without a load: a script fades it in, or a video shows its first frame. So screenshots
    /// are taken until two in a row are equal, or until the time is over: first of what is visible, then of the whole
    /// page.
    ///
    /// - Parameters:
    ///   - masks: CSS selectors of the elements to hide.
    ///   - whenStill: Called before the first screenshot of the whole page.
    /// - Returns: PNG in base64.
    /// - Throws: ``UsageError`` for an invalid selector.
    func picture(without masks: [String], whenStill: () -> Void) async throws -> String {
        let list = String(decoding: try JSONEncoder().encode(masks), as: UTF8.self)
        let wrong = try await value(of: "(\(Self.stillness))(\(list))", String.self)
        if !wrong.isEmpty { throw UsageError("\(quoted(wrong)) is not a CSS selector") }
        // Give the browser time to paint the page without the hidden elements.
        try await Task.sleep(nanoseconds: 100_000_000)
        let end = DispatchTime.now() + Self.movingTime
        _ = try await still(until: end, isWhole: false)
        whenStill()
        let (picture, isStill) = try await still(until: end, isWhole: true)
        if isStill { return picture }
        report(
            "the page still moves \(counted(Int(Self.movingTime), "second")) after it was loaded, so its pictures may"
                + " differ by themselves; --mask hides what moves"
        )
        return picture
    }

    /// Takes screenshots until two in a row are equal, or until the time is over.
    private func still(until end: DispatchTime, isWhole: Bool) async throws -> (picture: String, isStill: Bool) {
        var last = try await screenshot(isWhole: isWhole)
        while .now() < end {
            try await Task.sleep(nanoseconds: 300_000_000)
            let next = try await screenshot(isWhole: isWhole)
            if next == last { return (next, true) }
            last = next
        }
        return (last, false)
    }

    /// The time in seconds for which the tool waits until a page's picture does not change.
    private static let movingTime = 5.0

    /// Takes one screenshot: of what is visible, or of the whole page, for which the page is laid out anew.
    private func screenshot(isWhole: Bool) async throws -> String {
        struct Metrics: Decodable {
            struct Size: Decodable {
                let width: Double
                let height: Double
            }
            let cssContentSize: Size
        }
        struct Screenshot: Decodable { let data: String }
        if !isWhole { return try await run("Page.captureScreenshot", ["format": "png"], Screenshot.self).data }
        let size = try await run("Page.getLayoutMetrics", [:], Metrics.self).cssContentSize
        let scale = settings.device?.scale ?? 1
        let width = min(max(1, size.width), Self.maximumSide / scale)
        let longest = min(Self.maximumSide / scale, Self.maximumArea / (width * scale * scale))
        let height = min(max(1, size.height), longest)
        if height < size.height || width < size.width {
            report("the picture is cut to \(Int(width)) × \(Int(height))")
        }
        let clip: [String: any Sendable] = ["x": 0, "y": 0, "width": width, "height": height, "scale": 1]
        return try await run(
            "Page.captureScreenshot",
            ["format": "png", "captureBeyondViewport": true, "clip": clip],
            Screenshot.self
        ).data
    }

    /// The maximum length of a screenshot's sides, in pixels; graphics hardware supports no larger images.
    private static let maximumSide = 16_000.0

    /// The maximum number of a screenshot's pixels; the browser holds several copies, with four bytes for each pixel.
    private static let maximumArea = 40_000_000.0

    /// The JavaScript function that ends animations and hides elements; returns the first invalid selector, or "".
    private static let stillness = String(resource: PackageResources.stillness_js)
}

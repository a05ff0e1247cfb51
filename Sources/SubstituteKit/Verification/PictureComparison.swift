import Foundation
import SubstituteCheckKit

/// The difference between two screenshots of a page.
struct PictureComparison: Decodable, Sendable {
    /// A rectangle in which pixels differ, in CSS pixels.
    struct Region: Codable, Sendable, Equatable {
        let x: Int
        let y: Int
        let width: Int
        let height: Int
    }

    /// The width of the wider screenshot, in pixels.
    let width: Int
    /// The height of the taller screenshot, in pixels.
    let height: Int
    /// The number of pixels per CSS pixel.
    let scale: Double
    /// The number of pixels that differ.
    let count: Int
    /// The rectangles with the most differing pixels, in descending order; at most ten.
    let places: [Region]
    /// The number of rectangles with differing pixels, including those that are not in ``places``.
    let placeCount: Int
    /// A faded copy of the second screenshot with the differing pixels in red, as PNG in base64.
    var picture: String

    /// The share of the pixels that differ, from 0 to 1.
    var share: Double { Double(count) / max(1, Double(width) * Double(height)) }

    /// The share as a percentage with at most two decimals; never 0 if any pixel differs.
    var percentage: String {
        let percent = share * 100
        if count > 0, percent < 0.01 { return "less than 0.01 %" }
        return percent.formatted(.number.precision(.fractionLength(0...2)).locale(Locale(identifier: "en"))) + " %"
    }

    /// Compares two screenshots in a browser page, because a browser can decode them.
    ///
    /// - Parameters:
    ///   - first: PNG in base64.
    ///   - second: PNG in base64.
    ///   - scale: The number of pixels per CSS pixel.
    ///   - browser: The browser to use; an empty page replaces the browser's current page.
    /// - Throws: ``ToolError`` if the browser does not respond.
    init(_ first: String, _ second: String, scale: Double, in browser: Browser) async throws {
        try await browser.load("about:blank")
        // A DevTools message holds at most 100 MB, so the screenshots are sent in parts.
        for (name, picture) in [("first", first), ("second", second)] {
            try await browser.value(of: "(globalThis.\(name) = '', true)", Bool.self, isIsolated: false)
            var rest = picture[...]
            while !rest.isEmpty {
                try await browser.value(
                    of: "(globalThis.\(name) += '\(rest.prefix(Self.partLength))', true)",
                    Bool.self,
                    isIsolated: false
                )
                rest = rest.dropFirst(Self.partLength)
            }
        }
        self = try await browser.value(
            of: "(\(Self.comparison))(first, second, \(scale))",
            PictureComparison.self,
            within: 60,
            isIsolated: false
        )
    }

    private static let partLength = 32_000_000

    /// The JavaScript function that compares two screenshots.
    ///
    /// A pixel differs if one of its channels differs by more than 4 of 255.
    ///
    /// Smaller differences are ignored, because a graphics processor may round differently when a browser draws a page
    /// twice. A difference of 5 is visible if a large area has it.
    private static let comparison = String(resource: PackageResources.comparison_js)
}

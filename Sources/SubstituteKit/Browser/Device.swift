import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The screen that shows a page.
///
/// The choice of images by `srcset`, and of styles by media queries, depends on the screen.
struct Device: Equatable, Sendable {
    /// The width and height, in CSS pixels.
    let (width, height): (Int, Int)
    /// The number of screen pixels for each CSS pixel.
    let scale: Double

    /// An option that names screens; the pages are loaded for each.
    static let option = Option(repeated: "device", value: "device") {
        try $0.map(Device.init(_:)).reduce(into: [Device]()) { $0 += $0.contains($1) ? [] : [$1] }
    }

    static let desktop = Device(width: 1280, height: 800, scale: 1)

    private init(width: Int, height: Int, scale: Double) {
        (self.width, self.height) = (width, height)
        self.scale = scale
    }

    /// Parses a name, or a size such as `390x844@3`.
    init(_ text: String) throws(UsageError) {
        let names = ["phone": "390x844@3", "tablet": "820x1180@2", "desktop": Self.desktop.words]
        let name = text.lowercased()
        guard let match = (names[name] ?? name).wholeMatch(of: Self.size), let width = Int(match.1),
            let height = Int(match.2), let scale = Double(match.3 ?? "1"), (100...5000).contains(width),
            (100...5000).contains(height), (0.5...5).contains(scale)
        else {
            throw UsageError(
                "there is no device \(quoted(text)); write phone, tablet, desktop, or a size from 100 to 5000 with an "
                    + "optional scale from 0.5 to 5, such as 390x844@3"
            )
        }
        self.init(width: width, height: height, scale: scale)
    }

    nonisolated(unsafe) private static let size = /(\d+)x(\d+)(?:@(\d+(?:\.\d+)?))?/

    /// The size and scale, as in the option.
    var words: String {
        "\(width)x\(height)" + (scale == 1 ? "" : "@\(scale == scale.rounded() ? "\(Int(scale))" : "\(scale)")")
    }

    /// True if pages are laid out as on phones and tablets, with touch instead of a mouse.
    var isMobile: Bool { width < 1000 }

    /// The `User-Agent` of an iOS web view, so that servers answer as they would answer an app; nil for a desktop.
    var userAgent: String? {
        guard isMobile else { return nil }
        let system = width < 600 ? "iPhone; CPU iPhone OS 18_5" : "iPad; CPU OS 18_5"
        return "Mozilla/5.0 (\(system) like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
    }
}

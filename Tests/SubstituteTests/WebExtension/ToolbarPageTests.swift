// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("The toolbar page", .serialized)
struct ToolbarPageTests {
    @Test("A transparent picture is shown on white and on black, and an opaque one only once", .startsChromium)
    func backgrounds() async throws {
        let folder = try TemporaryFolder()
        let picture = #"<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">"#
        try folder.write(picture + "<circle cx='20' cy='20' r='9' fill='white'/></svg>", to: "Site/logo.svg")
        try folder.write(picture + "<rect width='40' height='40'/></svg>", to: "Site/photo.svg")
        let entries = ["logo.svg", "photo.svg"].map { "\"https://h.test/\($0)\": \"\($0)\"" }
        try folder.write("{ \(entries.joined(separator: ", ")) }", to: "Site/manifest.json")
        let (site, output) = (folder.url.appendingPathComponent("Site"), folder.url.appendingPathComponent("Extension"))
        try #require(await Tool.run(["extension", site.path, "-o", output.path]).status == 0)
        let browser = try await DrivenChromium(extensionFolder: output)
        defer { browser.stop() }
        for scheme in ["light", "dark"] {
            let features = [["name": "prefers-color-scheme", "value": scheme]]
            try await browser.command("Emulation.setEmulatedMedia", ["features": features])
            try await browser.open("chrome-extension://\(browser.extensionID)/toolbar.html")
            let counts = "[...document.querySelectorAll('#rows li')].map(row => row.querySelectorAll('img').length)"
            try await browser.wait(until: counts, is: "2,1")
            let images = "[...document.querySelectorAll('#rows li:first-child img')]"
            let styles = "\(images).map(image => getComputedStyle(image))"
            let colours = try await browser.text("\(styles).map(style => style.backgroundColor).join(' ')")
            #expect(colours == "rgb(255, 255, 255) rgb(21, 23, 28)", "\(scheme)")
            #expect(try await browser.text("\(styles).map(style => style.objectFit)") == "scale-down,scale-down")
        }
        #expect(browser.complaints == [])
    }
}
#endif

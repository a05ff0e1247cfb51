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
            try await browser.evaluate("globalThis.\(name) = ''")
            var rest = picture[...]
            while !rest.isEmpty {
                try await browser.evaluate("globalThis.\(name) += '\(rest.prefix(Self.partLength))'")
                rest = rest.dropFirst(Self.partLength)
            }
        }
        self = try await browser.evaluate("(\(Self.comparison))(first, second, \(scale))", PictureComparison.self)
    }

    private static let partLength = 32_000_000

    /// The JavaScript function that compares two screenshots.
    ///
    /// A pixel differs if one of its channels differs by more than 4 of 255.
    ///
    /// Smaller differences are ignored, because a graphics processor may round differently when a browser draws a page
    /// twice. A difference of 5 is visible if a large area has it.
    private static let comparison = """
        async (first, second, scale) => {
          const read = async data => {
            const image = new Image();
            image.src = "data:image/png;base64," + data;
            await image.decode();
            return image;
          };
          const images = [await read(first), await read(second)];
          const width = Math.max(...images.map(image => image.width));
          const height = Math.max(...images.map(image => image.height));
          const canvases = images.map(image => {
            const canvas = document.createElement("canvas");
            [canvas.width, canvas.height] = [width, height];
            const context = canvas.getContext("2d", { willReadFrequently: true });
            context.drawImage(image, 0, 0);
            return context;
          });
          const [one, two] = canvases.map(context => new Uint8ClampedArray(
            context.getImageData(0, 0, width, height).data.buffer));
          const shown = canvases[1].getImageData(0, 0, width, height);
          const out = shown.data;
          // Adjacent cells with differing pixels form one region.
          const side = 16, columns = Math.ceil(width / side), rows = Math.ceil(height / side);
          const cells = new Uint32Array(columns * rows);
          const isApart = at => Math.abs(one[at] - two[at]) > 4;
          let count = 0;
          for (let y = 0, at = 0; y < height; y++) {
            for (let x = 0; x < width; x++, at += 4) {
              const differs = isApart(at) || isApart(at + 1) || isApart(at + 2) || isApart(at + 3);
              if (differs) {
                count++;
                cells[Math.floor(y / side) * columns + Math.floor(x / side)]++;
                [out[at], out[at + 1], out[at + 2], out[at + 3]] = [214, 20, 60, 255];
              } else {
                const pale = 255 - (255 - (out[at] + out[at + 1] + out[at + 2]) / 3) / 4;
                out[at] = out[at + 1] = out[at + 2] = pale;
                out[at + 3] = 255;
              }
            }
          }
          const places = [];
          for (let start = 0; start < cells.length; start++) {
            if (!cells[start]) continue;
            const place = { left: columns, top: rows, right: 0, bottom: 0, count: 0 };
            const waiting = [start];
            place.count += cells[start];
            cells[start] = 0;
            while (waiting.length) {
              const cell = waiting.pop(), x = cell % columns, y = Math.floor(cell / columns);
              place.left = Math.min(place.left, x);
              place.right = Math.max(place.right, x + 1);
              place.top = Math.min(place.top, y);
              place.bottom = Math.max(place.bottom, y + 1);
              for (let row = Math.max(0, y - 1); row <= Math.min(rows - 1, y + 1); row++) {
                for (let column = Math.max(0, x - 1); column <= Math.min(columns - 1, x + 1); column++) {
                  const next = row * columns + column;
                  if (!cells[next]) continue;
                  place.count += cells[next];
                  cells[next] = 0;
                  waiting.push(next);
                }
              }
            }
            places.push(place);
          }
          canvases[1].putImageData(shown, 0, 0);
          const inPage = cell => Math.round(cell * side / scale);
          return {
            width, height, scale, count, placeCount: places.length,
            places: places.sort((a, b) => b.count - a.count).slice(0, 10).map(place => ({
              x: inPage(place.left), y: inPage(place.top), width: inPage(place.right - place.left),
              height: inPage(place.bottom - place.top),
            })),
            picture: canvases[1].canvas.toDataURL("image/png").split(",")[1],
          };
        }
        """
}

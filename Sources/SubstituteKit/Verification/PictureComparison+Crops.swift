import Foundation

extension PictureComparison {
    /// A part of the page with one or more of the ``places``, and some of the page around them.
    struct Crop: Sendable, Equatable {
        let area: Region
        let places: [Region]
    }

    /// The space around a place, and the limits of a part's size, in CSS pixels.
    private static let (margin, least, tallest) = (32, Region(x: 0, y: 0, width: 320, height: 120), 900)

    /// The size of the page, in CSS pixels.
    var pageWidth: Int { max(1, Int((Double(width) / scale).rounded())) }
    private var pageHeight: Int { max(1, Int((Double(height) / scale).rounded())) }

    /// The parts of the page that differ; parts that overlap are one.
    var crops: [Crop] {
        var crops = places.map { Crop(area: area(around: $0), places: [$0]) }
        var index = 0
        while index < crops.count {
            guard let other = crops.indices.first(where: { $0 > index && crops[$0].area.touches(crops[index].area) })
            else {
                index += 1
                continue
            }
            let merged = crops.remove(at: other)
            crops[index] = Crop(
                area: crops[index].area.union(merged.area),
                places: crops[index].places + merged.places
            )
            index = 0
        }
        return crops.map { crop in
            let area = crop.area
            // A taller part would fill more than a screen; the links lead to the whole pictures.
            return Crop(
                area: Region(x: area.x, y: area.y, width: area.width, height: min(area.height, Self.tallest)),
                places: crop.places
            )
        }
    }

    private func area(around place: Region) -> Region {
        let (x, width) = Self.range(place.x, place.width, atLeast: Self.least.width, of: pageWidth)
        let (y, height) = Self.range(place.y, place.height, atLeast: Self.least.height, of: pageHeight)
        return Region(x: x, y: y, width: width, height: height)
    }

    /// Returns a range with some space around another range, inside `0..<whole`.
    private static func range(_ start: Int, _ length: Int, atLeast least: Int, of whole: Int) -> (Int, length: Int) {
        let wanted = min(whole, max(least, length + 2 * margin))
        let middle = start + length / 2
        return (min(max(0, middle - wanted / 2), whole - wanted), wanted)
    }
}

extension PictureComparison.Region {
    fileprivate func touches(_ other: Self) -> Bool {
        x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
    }

    fileprivate func union(_ other: Self) -> Self {
        let (left, top) = (min(x, other.x), min(y, other.y))
        return Self(
            x: left,
            y: top,
            width: max(x + width, other.x + other.width) - left,
            height: max(y + height, other.y + other.height) - top
        )
    }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A page that its script builds from JSON: the preview, the report of `verify`, or the list of an extension.
///
/// The script makes elements and texts only, so no text of the data is ever read as HTML.
struct Page {
    let html: String

    /// Fills the template.
    ///
    /// - Parameters:
    ///   - title: The title until the script runs.
    ///   - data: The data that the script shows.
    ///   - style: The style of this kind of page.
    ///   - scripts: The scripts of this kind of page, which follow the shared one.
    ///   - file: The file with the scripts, for a page whose origin forbids scripts inside; nil to put them inside.
    ///   - connects: True if the page may load from its own server.
    /// - Throws: `EncodingError` if the data has a number that JSON cannot have.
    init(
        _ title: String,
        _ data: JSONObject,
        style: [UInt8],
        scripts: [[UInt8]],
        in file: String? = nil,
        connects: Bool = false
    ) throws {
        // The nonce is random, so no text of the data can contain it.
        let nonce = UUID().uuidString
        let policy = [
            "default-src 'none'", "img-src 'self' file:", "media-src 'self' file:", "font-src 'self' file:",
            "style-src 'unsafe-inline'", "connect-src \(connects ? "'self'" : "'none'")",
            "script-src \(file == nil ? "'nonce-\(nonce)'" : "'self'")", "base-uri 'none'", "form-action 'none'",
        ]
        let parts = [
            "policy": policy.joined(separator: "; "),
            "title": title.replacing("&", with: "&amp;").replacing("<", with: "&lt;"),
            "style": String(resource: PackageResources.page_css + style),
            // Of the characters of JSON, only this one could end the script element or begin a comment in it.
            "data": try data.text().replacing("<", with: "\\u003c"),
            "script": file.map { "<script src=\"\($0)\"></script>" }
                ?? "<script nonce=\"\(nonce)\">\n\(Self.script(scripts))</script>",
        ]
        html = String(resource: PackageResources.page_html).replacing(Self.place) { parts[String($0.1)] ?? "" }
    }

    nonisolated(unsafe) private static let place = /\{(\w+)\}/

    /// The page with a seal, for a file that the tool may replace.
    var sealed: String { String(decoding: Seal.sealed(Data(html.utf8), "<!-- ", " -->"), as: UTF8.self) }

    /// Returns the shared script and those of a kind of page.
    static func script(_ scripts: [[UInt8]]) -> String {
        ([PackageResources.page_js] + scripts).map(String.init(resource:)).joined()
    }
}

extension String {
    /// The percent-encoded form of this path for a URL.
    var percentEncoded: String {
        var kept = CharacterSet(charactersIn: "/-._~")
        for letters in ["a"..."z", "A"..."Z", "0"..."9"] as [ClosedRange<Unicode.Scalar>] {
            kept.insert(charactersIn: letters)
        }
        return addingPercentEncoding(withAllowedCharacters: kept) ?? self
    }
}

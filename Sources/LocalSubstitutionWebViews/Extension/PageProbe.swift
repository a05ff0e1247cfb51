import Foundation
import SubstitutionRules

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A test page on a host that does not exist (RFC 2606 §2), and the script in the page.
///
/// The extension has a rule for the script's URL. If the script sets the page's title, WebKit has applied the rule and
/// has loaded the script's mirror (`substitution-https://host/path` for `https://host/path`).
enum PageProbe {
    static let page = "https://substitution.invalid/"
    /// The title that the script sets.
    static let title = "led"
    private static let script = page + "self-test"

    static let filter = URLFilter(script)

    static let body = Data(
        """
        <html xmlns="http://www.w3.org/1999/xhtml"><head><title></title><script src="\(script)"></script></head></html>
        """.utf8
    )

    /// Returns the script if the request is for the script's mirror; otherwise nil.
    static func reply(to request: URLRequest) -> SchemeReply? {
        guard request.url?.absoluteString == MirrorURL.prefix + script, let url = URL(string: script) else {
            return nil
        }
        let fields = [
            "Content-Type": "text/javascript", "Access-Control-Allow-Origin": "*", "Cache-Control": "no-store",
        ]
        return HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields).map {
            SchemeReply($0, Data("document.title = \"\(title)\"".utf8))
        }
    }
}

import Foundation
import LocalSubstitutionCache

/// A page that a server, a network or a sign-in sends in place of the page or file that was asked for.
struct ErrorPage {
    /// The part of the page by which a user recognises it.
    let text: String
    /// The kind of the page, with its article.
    let what: String
    let remedy: String

    private static let again = "download it again when the site works"

    /// Finds such a page in a file; nil if the file has other content.
    ///
    /// A page that is called an error or a sign-in is meant to be one.
    init?(_ file: FileSample) {
        guard file.type.isText || file.expected != nil, file.size > 0 else { return nil }
        let page = file.beginning
        if let line = page.firstMatch(of: Self.plainStart)?.0 {
            (text, what, remedy) = (
                line.trimmingCharacters(in: .whitespacesAndNewlines), "an error of a server or a proxy", Self.again
            )
            return
        }
        guard page.first == "<" else { return nil }
        let url = file.substitution.map { String($0.url) } ?? ""
        let names = [file.path, url].map { $0.lowercased().drop { $0 != "/" } }
        // A file that answers in place of an error may look like one.
        let isError =
            file.substitution?.entry.conditions.isEmpty == false
            || names.contains { $0.firstMatch(of: Self.errorName) != nil }
        let isSignIn = names.contains { $0.firstMatch(of: Self.signInName) != nil }
        let title = Self.title(of: page)
        for kind in Self.kinds {
            let isMeant = kind.isSignIn ? isSignIn : isError
            guard !isMeant else { continue }
            let found = title.flatMap { title in title.wholeMatch(of: kind.title) != nil ? title : nil }
            let mark = kind.marks.first { page.range(of: $0, options: .caseInsensitive) != nil }
            // Some titles are those of ordinary pages, too, unless the page also has one of the marks.
            guard let shown = kind.needsMark ? (mark == nil ? nil : found) : found ?? mark else { continue }
            (text, what, remedy) = (shown, kind.what, kind.remedy ?? Self.remedy(for: shown))
            return
        }
        // Apache's and HAProxy's pages begin with the status in a heading.
        guard title == nil, !isError, file.size < 2000,
            let heading = page.firstMatch(of: Self.heading).map({ String($0.1) })
        else { return nil }
        (text, what, remedy) = (heading, "an error page of a server or a proxy", Self.remedy(for: heading))
    }

    private static func remedy(for error: String) -> String {
        let error = error.lowercased()
        if ["404", "410", "not found", "gone", "not_found", "no such"].contains(where: error.contains) {
            return "download it again from the right address"
        }
        return ["401", "403", "denied", "forbidden", "blocked", "rejected", "not acceptable"].contains(
            where: error.contains
        )
            ? "the server refuses it to some programs and networks, so save it from a browser" : again
    }

    /// Returns the text of the element `title` of the page; nil if there is none.
    ///
    /// A drawing in a page may have a title, too, so only the head is searched.
    private static func title(of page: Substring) -> String? {
        let head = page.range(of: "<body", options: .caseInsensitive).map { page[..<$0.lowerBound] } ?? page
        guard let match = head.firstMatch(of: titleElement) else { return nil }
        let text = String(match.1).replacingOccurrences(of: "&#8211;", with: "–").replacingOccurrences(
            of: "&amp;",
            with: "&"
        )
        .replacingOccurrences(of: "&middot;", with: "·").replacingOccurrences(of: "&hellip;", with: "…")
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    nonisolated(unsafe) private static let titleElement = /<title[^>]*>([^<]{1,200})<\/title>/.ignoresCase()
    nonisolated(unsafe) private static let heading =
        /<h[12][^>]*>\s*((?:[45][0-9]{2}[ :\-–]+)?(?:bad gateway|gateway time-?out|service (?:temporarily )?unavailable|not found|forbidden|internal server error|bad request|access denied|too many requests|unauthorized))[^<]*<\/h[12]>/
        .ignoresCase()
    nonisolated(unsafe) private static let errorName =
        /(^|[^0-9])[45][0-9x]{2}([^0-9]|$)|error|not-?found|forbidden|denied|maintenance|unavailable|offline|challenge|captcha/
    nonisolated(unsafe) private static let signInName =
        /log-?in|log-?on|sign-?in|signon|sso|auth|account|anmeld|session|password|connexion|consent|cookie|privacy|portal/
    /// Errors that proxies send as a line of text.
    nonisolated(unsafe) private static let plainStart =
        /^(?:upstream connect error or disconnect\/reset before headers|no healthy upstream|error code: 1?[0-9]{3}\s*$|404 page not found\s*$|stream timeout\s*$|upstream request timeout|RBAC: access denied|no available server\s*$|default backend - 404|Guru Meditation)[^\n]{0,60}/

    private struct Kind: @unchecked Sendable {
        let what: String
        /// The remedy; nil if it depends on the error.
        let remedy: String?
        // A regular expression that is never changed may be shared.
        let title: Regex<Substring>
        var marks: [String] = []
        var needsMark = false
        var isSignIn = false
    }

    private static let kinds: [Kind] = [
        Kind(
            what: "a page that asks whether a person or a program is there",
            remedy: "open the URL in a browser, and save the page from there",
            title: challenge,
            marks: [
                "_cf_chl_opt", "captcha-delivery.com/c.js", "Incapsula incident ID", "window.gokuProps",
                "/.within.website/x/cmd/anubis",
                "px-captcha", "cf-challenge-running", "window._pxAppId",
            ]
        ),
        Kind(
            what: "an error page of a server or a proxy",
            remedy: nil,
            title: failure,
            marks: [
                "<center>nginx</center>", "<center>openresty</center>", "Generated by cloudfront (CloudFront)",
                "cf-error-details",
                "<hr><center>cloudflare</center>", "Varnish cache server</p>", "Generated by Varnish", "Error 54113",
                "id=\"cf-wrapper\"", "errors.edgesuite.net", "<p>Guru Meditation:",
            ]
        ),
        Kind(
            what: "a page with an error message of PHP",
            remedy: "download it again when the site is mended",
            title: /(?!)/,
            marks: ["Fatal error", "Parse error", "Warning", "Notice", "Deprecated"].map { "<b>\($0)</b>:  " }
        ),
        Kind(
            what: "a page about the site's maintenance",
            remedy: again,
            title: maintenance
        ),
        Kind(
            what: "a page for old browsers",
            remedy: "open the URL in a browser, and save the page from there",
            title: oldBrowser
        ),
        Kind(
            what: "a page that forwards to another",
            remedy: "name the URL to which it leads",
            title: moved
        ),
        Kind(
            what: "a server's list of a folder",
            remedy: "download the page itself",
            title: listing
        ),
        Kind(
            what: "the page of a network's sign-in (Wi-Fi)",
            remedy: "sign in to the network, and download the file again",
            title: portal,
            marks: [
                "<WISPAccessGatewayParam", "/cgi-bin/hotspotlogin", "fgtauth?", "securelogin.arubanetworks.com",
                "mikrotik hotspot",
            ]
        ),
        Kind(
            what: "a page that asks for consent",
            remedy: "answer it in a browser, and save the page from there",
            title: consent,
            marks: [
                "action=\"https://consent.google.", "action=\"https://consent.youtube.",
                "https://consent.yahoo.com/v2/collectConsent",
                "action=\"https://guce.",
            ],
            isSignIn: true
        ),
        Kind(
            what: "a sign-in page",
            remedy: "sign in in a browser, and save the page or file from there",
            title: signIn,
            marks: [
                "type=\"password\"", "type='password'", "type=password", "login.microsoftonline.com",
                "accounts.google.com",
                "name=\"SAMLRequest\"", "name=\"SAMLResponse\"", "name=\"RelayState\"", "/adfs/ls", "okta.com",
                "okta-signin",
                "auth0.com", "cloudflareaccess.com", "/cdn-cgi/access/", "kc-form-login", "wp-login.php", "aadcdn.",
                "/users/sign_in", "name=\"j_username\"", "autocomplete=\"current-password\"", "/oauth2/", "/saml",
                "onelogin",
            ],
            needsMark: true,
            isSignIn: true
        ),
        Kind(
            what: "a page that forwards to a sign-in",
            remedy: "sign in in a browser, and save the page or file from there",
            title: forwarding,
            marks: ["name=\"SAMLRequest\"", "name=\"SAMLResponse\"", "name=\"wresult\""],
            isSignIn: true
        ),
    ]

    nonisolated(unsafe) private static let challenge: Regex<Substring> =
        /(?:just a moment(?:\.{3}|…)?|(?:nur )?einen moment,? (?:bitte)?(?:\.{3}|…)?|un instant(?:\.{3}|…)?|un momento(?:\.{3}|…)?|please wait(?:\.{3}|…)? \| cloudflare|attention required! \| cloudflare|checking your browser.*|ddos-guard|ddos protection by .*|human verification|verif(?:y|ying) you are (?:a )?human.*|are you (?:a robot|human)\??|robot or human\??|robot check|pardon our interruption(?:\.{3}|…)?|access to this page has been denied\.?|vercel security checkpoint|making sure you'?&?#?3?9?;?re not a bot!?|bot verification|security check(?: required)?|one moment, please(?:\.{3}|…)?|client challenge|captcha|recaptcha challenge|unusual traffic.*|sorry(?:\.{3}|…))/
        .ignoresCase()
    nonisolated(unsafe) private static let failure: Regex<Substring> =
        /(?:[^|]{1,80} \| )?(?:http )?(?:error:? ?|status ?)?(?:[45][0-9]{2}(?:\.[0-9]+)? ?[:|\-–—]* ?)(?:error|not found|file or directory not found|page not found|forbidden|access (?:is )?denied|forbidden: access is denied|unauthori[sz]ed|bad gateway|web server is down|web server is returning an unknown error|connection timed out|origin is unreachable|a timeout occurred|ssl handshake failed|bad request|internal server error|internal error|service (?:temporarily )?unavailable|gateway time-?out|time-?out|method not allowed|too many requests|request timeout|gone|not_found|backend fetch failed|backend unhealthy|backend read error|page could not be found|this page could not be found|\(not found\)!!1|backend error)\.?(?: - (?:iis|nginx|apache|httpd).*)?|error: the request(?:ed url)? could not be (?:satisfied|retrieved)|(?:bad gateway|access denied|service unavailable|gateway timeout|internal server error|application error|no such app|runtime error|server error|forbidden|bad request|database error|site not found|deployment_not_found)\.?|error|iis [0-9.]+ detailed error.*|error 404 \(not found\)!!1|fastly error: .*|access denied \| .* used cloudflare to restrict access|(?:dns resolution|origin dns) error.*|worker threw exception.*|site not found · github pages|page not found · github pages|sucuri website firewall.*|the page you were looking for doesn't exist.*|we're sorry, but something went wrong.*|http status [45][0-9]{2} .*|(?:web)?site is (?:temporarily )?(?:under maintenance|offline|unavailable)|(?:under )?maintenance(?: mode)?|suspended (?:domain|page|site)|account suspended|default web site page|welcome to nginx!|apache2 (?:ubuntu|debian) default page.*|page not found at .*|not acceptable!?|request rejected|web page blocked!?|the url you requested has been blocked|attack detected|blocked by .*/
        .ignoresCase()
    nonisolated(unsafe) private static let maintenance: Regex<Substring> =
        /(?:.{0,50} ?[|·\-–—:] ?)?(?:(?:scheduled |website |site )?maintenance(?: mode)?|(?:.{0,40} )?(?:is )?(?:under|down for|in|closed for) (?:scheduled |planned )?maintenance|we(?:'|’| wi)ll be (?:right |back ).{0,40}|(?:we'll )?be right back|wartung(?:s(?:arbeiten|modus|seite))?|en maintenance|en mantenimiento)[.!…]*(?: ?[|·\-–—:] ?.{0,50})?/
        .ignoresCase()
    nonisolated(unsafe) private static let oldBrowser: Regex<Substring> =
        /(?:please )?(?:update|upgrade) your (?:web ?)?browser.{0,40}|(?:.{0,40}[|·\-–—:] ?)?(?:unsupported|outdated|old) browser|(?:your |this )?browser (?:is )?(?:not supported|outdated|out of date).{0,20}|browser nicht unterstützt/
        .ignoresCase()
    nonisolated(unsafe) private static let moved: Regex<Substring> =
        /(?:30[12378] )?(?:(?:document |object |page )?moved(?: permanently| temporarily)?|page redirection|found|see other)/
        .ignoresCase()
    nonisolated(unsafe) private static let listing: Regex<Substring> =
        /(?:index of|directory listing (?:for|of)|directory:) \/.*/.ignoresCase()
    nonisolated(unsafe) private static let portal: Regex<Substring> =
        /(?:.{0,40}(?:hotspot|captive portal|guest portal|wi-?fi|wlan|guest network|hotel internet).{0,20}(?:log ?in|sign ?in|anmeld\w*|portal|welcome|access|redirect)?|web authentication(?: redirect)?|network authentication required|firewall authentication|fortigate.*|(?:log ?in|sign ?in|connect) to (?:the )?(?:wi-?fi|network|hotspot).*|captive ?portal.*)/
        .ignoresCase()
    nonisolated(unsafe) private static let consent: Regex<Substring> =
        /(?:before you continue.*|bevor sie (?:zu|fortfahren|mit).*|avant d.acc[eé]der .*|antes de (?:ir|continuar).*|yahoo (?:is|ist|est|es|fait) .*(?:family|familie|famille|familia).*|.{0,40}privacy ?gate.{0,20}|(?:cookie|tracking) ?(?:consent|wall|settings|choices)|your (?:privacy|cookie) choices|we value your privacy|consent(?: required)?|zustimmung.*|einwilligung.*|cookie-einstellungen)/
        .ignoresCase()
    nonisolated(unsafe) private static let signIn: Regex<Substring> =
        /(?:.{0,50}[|·•\-–—:・‹»] ?)?(?:sign ?[\- ]?in|log ?[\- ]?in|login|logon|single sign-?on|sso|anmelden|anmeldung|einloggen|se connecter|connexion|iniciar sesi[oó]n|accedi|inloggen|logga in|entrar|authentication required|google accounts)\b.{0,60}|.{0,50} ?[|·•\-–—:・‹»] ?(?:sign ?in|log ?in|login|anmelden|connexion)/
        .ignoresCase()
    nonisolated(unsafe) private static let forwarding: Regex<Substring> =
        /(?:working(?:\.{3}|…)|redirecting(?:\.{3}|…)?|saml.*|submit this form|please wait.*|shibboleth authentication request|post data|authentication redirect)/
        .ignoresCase()
}

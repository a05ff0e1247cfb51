import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// URLs that are valid, although no app loads them a second time, or at all.
///
/// They were copied from a mail, a chat, a code editor or an address bar.
enum UnlikelyURL {
    /// Returns a sentence about the URL of an entry; nil if nothing is odd about it.
    static func problem(of entry: ManifestEntry) -> String? {
        // Some rules compare each parameter with the others.
        guard entry.key.value.utf8.count <= 8000, !hasUserInformation(entry.key.value) else { return nil }
        let parts = Parts(entry)
        return rules.firstResult { $0(parts) }
    }

    /// An entry's key, split where the rules look.
    private struct Parts {
        let entry: ManifestEntry
        let key: String
        let host: String
        /// The port as it is written; empty if the key has none.
        let port: String
        let path: String
        let query: String?

        init(_ entry: ManifestEntry) {
            (self.entry, key) = (entry, entry.key.value)
            let rest = key.drop { $0 != "/" }.dropFirst(2)
            let end = rest.firstIndex { "/?".contains($0) } ?? rest.endIndex
            host = rest[..<end].prefix { $0 != ":" }.lowercased()
            port = String(rest[..<end].drop { $0 != ":" }.dropFirst())
            let tail = rest[end...]
            let mark = tail.firstIndex(of: "?")
            path = String(tail[..<(mark ?? tail.endIndex)])
            query = mark.map { String(tail[tail.index(after: $0)...]) }
        }

        var file: String { entry.file?.value ?? "" }
        var subject: String { quoted(key) }

        /// The parameters of the query, with their values decoded.
        var parameters: [(name: String, value: String)] { query.map { SignedQuery.parameters($0) } ?? [] }

        func isOn(_ hosts: [String]) -> Bool { hosts.contains { host == $0 || host.hasSuffix("." + $0) } }
    }

    private static let rules: [@Sendable (Parts) -> String?] = [
        wrapping, viewer, rootDot, ownComputer, placeholder, shortening, signature, visit, selection,
    ]

    // MARK: - Links around a URL

    /// Finds a link that leads to another URL, which it contains or hides.
    private static func wrapping(_ parts: Parts) -> String? {
        guard let wrapper = wrappers.first(where: { parts.isOn($0.hosts) && parts.path.hasPrefix($0.path) }) else {
            guard redirects.contains(parts.path.lowercased()), let inner = inner(parts) else { return nil }
            return "\(parts.subject) is a link that leads to another URL; did you mean \(quoted(inner, limit: 1000))?"
        }
        let cause = "\(parts.subject) is a link of \(wrapper.name), which leads to another URL; "
        return cause
            + (inner(parts).map { "did you mean \(quoted($0, limit: 1000))?" }
                ?? "open it in a browser, and write the URL to which it leads")
    }

    /// Returns the URL that a link contains.
    private static func inner(_ parts: Parts) -> String? {
        var texts = parts.parameters.map(\.value)
        // Proofpoint writes "-" for "%" and "_" for "/" in version 2, and puts the URL between "__" in version 3.
        if parts.host.contains("urldefense") {
            texts += parts.parameters.filter { $0.name == "u" }.map { _, value in
                value.replacingOccurrences(of: "_", with: "/").replacingOccurrences(of: "-", with: "%")
            }
            texts += [parts.path.components(separatedBy: "__").dropFirst().first ?? ""]
        }
        if let start = parts.path.range(of: "https?(:|%3A)(/|%2F)", options: [.regularExpression, .caseInsensitive]) {
            texts.append(String(parts.path[start.lowerBound...]) + (parts.query.map { "?" + $0 } ?? ""))
        }
        if let match = parts.path.wholeMatch(of: acceleratedPage) { texts.append("https://\(match.1)") }
        return texts.firstResult { text in
            // The URL may be encoded more than once.
            let decoded =
                text.hasPrefix("http%") || text.hasPrefix("https%") || text.contains("%2F%2F")
                ? text.percentDecoded ?? text : text
            guard decoded.lowercased().hasPrefix("http") else { return nil }
            let whole = decoded.replacing(singleSlash) { "\($0.1)://" }
            return (try? URLPattern(whole)) == nil ? URLRepair.repaired(whole) : whole
        }
    }

    nonisolated(unsafe) private static let acceleratedPage = /\/amp\/s\/(.+)/
    nonisolated(unsafe) private static let singleSlash = /^(https?):\/(?=[^\/])/

    /// The paths at which sites redirect to a URL in the query.
    private static let redirects: Set = [
        "/url", "/l.php", "/redirect", "/redirect.php", "/redir", "/away", "/away.php", "/linkfilter", "/linkfilter/",
        "/link", "/out", "/out.php", "/exit", "/leave", "/leaving", "/goto", "/go", "/click", "/ck/a", "/r",
        "/track/click",
    ]

    private static let wrappers: [(name: String, hosts: [String], path: String)] = [
        ("Outlook (Safe Links)", ["safelinks.protection.outlook.com"], ""),
        ("Proofpoint (URL Defense)", ["urldefense.com", "urldefense.proofpoint.com", "urldefense.us"], ""),
        ("Mimecast", ["mimecast.com", "mimecastprotect.com"], "/s/"),
        ("Barracuda", ["linkprotect.cudasvc.com"], ""), ("Cisco", ["secure-web.cisco.com"], ""),
        ("Trend Micro", ["clicktime.symantec.com", "tmase.trendmicro.com"], ""),
        ("FireEye", ["fireeye.com"], "/v1/url"), ("Sophos", ["protection.sophos.com"], ""),
        ("Facebook", ["l.facebook.com", "lm.facebook.com", "l.messenger.com"], ""),
        ("Instagram", ["l.instagram.com"], ""), ("LinkedIn", ["linkedin.com"], "/redir"),
        ("LinkedIn", ["lnkd.in"], "/"), ("Slack", ["slack-redir.net"], ""), ("Reddit", ["out.reddit.com"], ""),
        ("YouTube", ["youtube.com"], "/redirect"), ("DuckDuckGo", ["duckduckgo.com"], "/l/"),
        ("Bing", ["bing.com"], "/ck/a"), ("Yahoo", ["r.search.yahoo.com"], ""), ("VK", ["vk.com"], "/away.php"),
        ("Steam", ["steamcommunity.com"], "/linkfilter"), ("Twitter", ["t.co"], "/"),
        ("Discord", ["discord.com"], "/redirect"), ("Medium", ["medium.com"], "/r/"),
        ("Pocket", ["getpocket.com"], "/redirect"),
        (
            "a link shortener",
            [
                "bit.ly", "tinyurl.com", "goo.gl", "ow.ly", "buff.ly", "is.gd", "rb.gy", "cutt.ly", "dlvr.it",
                "trib.al",
                "fb.me", "youtu.be", "amzn.to", "j.mp", "t.ly", "shorturl.at",
            ], "/"
        ),
        ("Google", ["google.com", "google.de", "google.co.uk", "google.fr"], "/url"),
        ("Google", ["google.com"], "/amp/s/"), ("a mail service", ["list-manage.com"], "/track/click"),
        ("a mail service", ["sendgrid.net", "mandrillapp.com", "mailchi.mp", "hubspotlinks.com"], "/"),
    ]

    /// Finds the page of a service that shows a file, in place of the file.
    private static func viewer(_ parts: Parts) -> String? {
        guard !parts.file.lowercased().hasSuffix(".html"), !parts.entry.namesFolder else { return nil }
        let path = parts.path.split(separator: "/").map(String.init)
        if parts.host == "github.com", path.count > 4, path[2] == "blob" {
            let raw = "https://raw.githubusercontent.com/" + (path[..<2] + path[3...]).joined(separator: "/")
            return "\(parts.subject) is GitHub's page about a file; did you mean \(quoted(raw, limit: 1000))?"
        }
        if parts.path.contains("/-/blob/") {
            let raw = parts.key.replacingOccurrences(of: "/-/blob/", with: "/-/raw/")
            return "\(parts.subject) is GitLab's page about a file; did you mean \(quoted(raw, limit: 1000))?"
        }
        let isPage =
            parts.isOn(["dropbox.com"]) && !parts.isOn(["dl.dropbox.com"])
            && !parts.parameters.contains { $0.name == "raw" || $0.name == "dl" && $0.value == "1" }
            || parts.isOn(["drive.google.com"]) && parts.path.hasPrefix("/file/")
            || parts.isOn(viewers) && !["/thumb", "/images/", "/image/"].contains(where: parts.path.hasPrefix)
        return isPage
            ? "\(parts.subject) is a page that shows a file, not the file; write the URL that the app loads" : nil
    }

    /// Services on whose servers only pages about files are.
    private static let viewers = [
        "www.figma.com", "docs.google.com", "www.canva.com", "1drv.ms", "we.tl", "wetransfer.com", "app.zeplin.io",
        "www.notion.so", "icloud.com", "miro.com", "app.box.com", "photos.app.goo.gl", "photos.google.com",
    ]

    /// Finds a server's name with the dot of the root (RFC 1034 §3.1), which no other link to the server has.
    private static func rootDot(_ parts: Parts) -> String? {
        guard parts.host.hasSuffix("."), let range = parts.key.range(of: parts.host, options: .caseInsensitive) else {
            return nil
        }
        let meant = parts.key.replacingCharacters(in: range, with: parts.host.dropLast())
        return "\(parts.subject) has a dot behind its server's name, so it is another URL than the one without; "
            + "did you mean \(quoted(meant, limit: 1000))?"
    }

    /// Finds a development server on the designer's own computer, by the ports that such servers take by default.
    private static func ownComputer(_ parts: Parts) -> String? {
        guard parts.isOn(["localhost", "127.0.0.1"]), developmentPorts.contains(parts.port) else { return nil }
        return "\(parts.subject) is on a development server, which an app on a phone does not find; "
            + "write the URL on the site's server"
    }

    /// The default ports of Create React App, Next.js, Angular, Vite, Live Server, Hugo, Jekyll, webpack, and others.
    private static let developmentPorts: Set = [
        "1313", "3000", "3001", "4000", "4200", "4321", "5000", "5173", "5174", "5500", "8000", "8080", "8081", "8888",
        "9000",
    ]

    // MARK: - Parts that stand for something else

    /// Finds the variables of routers and build tools in a path, such as `:id` and `[slug]`.
    private static func placeholder(_ parts: Parts) -> String? {
        let path = parts.path.percentDecoded ?? parts.path
        let values = parts.parameters.map(\.value).filter { $0.wholeMatch(of: wholeVariable) != nil }
        guard let found = path.firstMatch(of: variable).flatMap({ ($0.1 ?? $0.2).map(String.init) }) ?? values.first
        else { return nil }
        return "\(parts.subject) has \(quoted(found)), which stands only for itself here, and for no other text; "
            + "write an entry for each URL"
            + (path.hasSuffix(found) && parts.file.contains("/") ? ", or map the folder" : "")
    }

    nonisolated(unsafe) private static let variable =
        /\/(:[A-Za-z_]\w*[?*+]?|\$[A-Za-z_]*(?:id|Id|ID|slug|name|splat)|\.\.\.[A-Za-z]+)(?=[\/.]|$)|(\[\[?(?:\.\.\.)?[A-Za-z_][\w.:]*\]\]?|<(?:[a-z]+:)?[A-Za-z_ ]\w*>|__[A-Z][A-Z_]+__|%%[A-Z_]+%%)/
    nonisolated(unsafe) private static let wholeVariable =
        /:[A-Za-z_]\w*|\[[A-Za-z_]\w*\]|<[A-Za-z_]\w*>|\$[A-Za-z_]\w*|__[A-Z_]+__/

    /// Finds a URL that was shortened with an ellipsis.
    private static func shortening(_ parts: Parts) -> String? {
        let text = (parts.path + (parts.query.map { "?" + $0 } ?? ""))
        let decoded = text.replacingOccurrences(of: "%E2%80%A6", with: "…", options: .caseInsensitive)
        let segments = decoded.split { "/?&=".contains($0) }
        let isShortened =
            parts.host.contains("...") || decoded.contains("…") || decoded.contains("[...]") || decoded.hasSuffix("...")

            || segments.contains { $0.allSatisfy { $0 == "." } && $0.count > 2 || $0.hasPrefix("...") && $0.count > 3 }
        return isShortened
            ? "\(parts.subject) was shortened (\"…\") by the program that showed it; copy the whole URL" : nil
    }

    // MARK: - Queries of a single visit

    /// Finds a signature that expires.
    private static func signature(_ parts: Parts) -> String? {
        guard let query = parts.query, let compared = parts.entry.query.remainder(of: query) else { return nil }
        guard let expiry = SignedQuery.expiry(in: compared) else { return nil }
        let names = SignedQuery.parameters(compared).map(\.name)
        let prefix = SignedQuery.prefix(of: expiry) ?? ""
        let signed = names.filter { $0.hasPrefix(prefix) }
        return sentence(parts, "is signed, and its signature expires, so the app asks with another one", signed)
    }

    /// Finds the parameters of one visit or one click, and tokens of a session.
    private static func visit(_ parts: Parts) -> String? {
        let path = parts.path.lowercased()
        if let start = path.range(of: ";jsessionid=") ?? path.range(of: ";sid=") {
            let name = path[start].dropFirst().dropLast()
            let length = path.distance(from: path.startIndex, to: start.lowerBound)
            let key = parts.key.replacingOccurrences(of: String(parts.path.dropFirst(length)), with: "")
            return
                "\(parts.subject) holds the session of one visit (\(name)), so no app asks for it again; did you mean "
                + "\(quoted(key, limit: 1000))?"
        }
        guard let query = parts.query, let compared = parts.entry.query.remainder(of: query) else { return nil }
        let names = SignedQuery.parameters(compared).filter { name, value in
            let name = name.lowercased()
            return visits.contains(name) || name.hasPrefix("utm_") || name.hasPrefix("pk_campaign")
                || value.hasPrefix("eyJ") && value.count > 40
        }
        guard !names.isEmpty else { return nil }
        return sentence(
            parts,
            "belongs to one visit or one user, so the app does not ask for it again",
            names.map(\.name)
        )
    }

    private static let visits: Set = [
        "fbclid", "gclid", "gclsrc", "dclid", "msclkid", "yclid", "twclid", "wbraid", "gbraid", "igshid", "igsh",
        "mc_cid",
        "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "_ga", "_gl", "vero_id", "ttclid", "li_fat_id", "phpsessid",
        "jsessionid",
        "aspsessionid", "sessionid", "session_id", "cftoken", "cfid", "__cf_chl_tk", "__cf_chl_rt_tk",
    ]

    /// Returns a sentence that proposes to ignore parameters.
    private static func sentence(_ parts: Parts, _ cause: String, _ names: [String]) -> String {
        var patterns: [String] = []
        for name in names {
            // Names are case-sensitive, so keep the case of the URL.
            let prefix = name.lowercased().hasPrefix("utm_") ? String(name.prefix(4)) : SignedQuery.prefix(of: name)
            let pattern = prefix.map { $0 + "*" } ?? name
            if !patterns.contains(pattern) { patterns.append(pattern) }
        }
        let dropped = Set(names)
        let kept = (parts.query ?? "").split(separator: "&").filter { part in
            let name = String(part.prefix { $0 != "=" })
            return !dropped.contains(name.percentDecoded ?? name)
        }.joined(separator: "&")
        let key = String(parts.key.prefix { $0 != "?" }) + (kept.isEmpty ? "" : "?" + kept)
        let list = patterns.map { quoted($0) }.joined(separator: ", ")
        let shown = patterns.count == 1 ? patterns[0] : "\(patterns[0]), …"
        return "\(parts.subject) \(cause) (\(visible(shown))); write \(quoted(key, limit: 1000)): "
            + "{ \"file\": \(quoted(parts.file)), \"ignoreQuery\": [\(list)] }"
    }

    // MARK: - Queries that select

    /// Finds an entry that ignores the parameters by which a server selects what it sends.
    private static func selection(_ parts: Parts) -> String? {
        guard parts.entry.query != .exact, !parts.entry.namesFolder else { return nil }
        let path = parts.path.lowercased()
        let service = services.first { parts.isOn($0.hosts) || $0.paths.contains(where: path.hasSuffix) }
        let names = service?.names ?? selecting
        // A parameter is ignored if a query that has only this parameter leaves nothing to compare.
        let ignored = names.filter { parts.entry.query.remainder(of: "\($0)=1") == nil }
        let used = Set(parts.parameters.map { $0.name.lowercased() })
        guard let first = ignored.first(where: { service != nil || used.contains($0) }) else { return nil }
        let rule = parts.entry.query == .any ? "with \"ignoreQuery\": true" : "without it"
        return "\(parts.subject) sends what its query selects (\(first)), and \(rule) this one file answers for all; "
            + "write an entry for each query, and in \"ignoreQuery\" only names that change nothing"
    }

    /// The parameters by which many servers select a file or its size.
    private static let selecting = [
        "url", "src", "img", "image", "file", "id", "w", "width", "h", "height", "size", "resize", "fit", "crop", "dpr",
    ]

    /// Services that make a picture, a stylesheet or an answer from the query.
    private static let services: [(hosts: [String], paths: [String], names: [String])] = [
        (
            [],
            [
                "/_next/image", "/_vercel/image", "/_image", "/.netlify/images", "/_ipx", "/timthumb.php", "/thumb.php",
                "/image-proxy", "/imageproxy", "/imgproxy", "/resizer", "/api/image", "/image.php", "/img.php",
                "/get-image",
            ], ["url", "src", "w", "width", "h", "f", "href", "image"]
        ),
        (
            [
                "imgix.net", "i0.wp.com", "i1.wp.com", "i2.wp.com", "i3.wp.com", "images.unsplash.com",
                "plus.unsplash.com",
                "images.ctfassets.net", "cdn.sanity.io", "cdn.shopify.com", "images.prismic.io", "images.weserv.nl",
                "wsrv.nl", "pbs.twimg.com", "images.pexels.com", "gravatar.com", "ik.imagekit.io", "twic.pics",
            ], [], ["w", "width", "h", "height", "resize", "fit", "size", "s", "name", "url", "tr"]
        ),
        (["fonts.googleapis.com", "fonts.bunny.net", "use.typekit.net"], [], ["family"]),
        (
            [],
            [
                "/graphql", "/oembed", "/load.php", "/combo", "/minify", "/ajax", "/admin-ajax.php", "/api.php",
                "/search",
            ],
            ["query", "url", "modules", "action", "q", "f"]
        ),
    ]
}

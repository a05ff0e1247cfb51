import Foundation
import LocalSubstitutionCache

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Prints what happens to requests.
struct ExplainCommand {
    static let command = Command(
        name: "explain",
        summary: "Tells for each URL what answers it, or why nothing does.",
        operands: "[OPTIONS] [MANIFEST] URL|FILE…",
        operandKind: .manifest,
        options: [method, header, require, json],
        discussion: """
            Prints the entry and the file that answer a URL, and the head of the response as a client gets it; or the
            reason why the URL is left to the network, and the nearest entry. A FILE is a list of URLs, one a line, or a
            recording of a page (HAR); - reads either from standard input. For several URLs it says at the end how many of
            them a file answers.

            \(Command.aboutManifest)

            Exits with 0 when the manifest could be read, 1 when it has errors (with --require, also when no file answers
            one of the URLs), and 2 when it is used wrongly.
            """,
        example: """
              substitute explain https://example.com/css/site.css
              substitute explain --require page.har
            """,
        run: run
    )

    private static let method = Option(
        "method",
        short: "m",
        value: "method",
        "The method of the request; without it GET."
    )
    private static let header = Option(
        "header",
        short: "H",
        value: "header",
        "A header of the request, as 'Name: value'. May be repeated."
    )
    private static let require = Option("require", short: "r", "Exit with 1 when a URL is not answered by a file.")
    private static let json = Option("json", "Print one JSON object for each URL, and nothing else.")

    private let table: SubstitutionTable
    private let path: String
    private let method: String
    private let headers: [(name: String, value: String)]
    private let console: Console

    private static func run(_ arguments: Arguments, _ console: Console) throws -> Int32 {
        let operands = try ExplainOperands(arguments.operands)
        let path = try ManifestLocation.find(operands.manifest)
        let headers = try arguments.values(header).map { header throws(UsageError) in
            guard let colon = header.firstIndex(of: ":"), colon > header.startIndex else {
                throw UsageError("\(quoted(header)) is not a header; write it as 'Name: value'")
            }
            let value = header[header.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (String(header[..<colon]), value)
        }
        let table: SubstitutionTable
        do {
            let url = URL(fileURLWithPath: path)
            let text = try SubstitutionManifest.text(of: url, name: path)
            let manifest = SubstitutionManifest(text, name: path, url: url)
            table = try SubstitutionTable(manifest, folder: url.deletingLastPathComponent())
        } catch {
            console.complain("\(error)")
            return 1
        }
        let explain = ExplainCommand(
            table: table,
            path: path,
            method: arguments.values(method).last ?? "GET",
            headers: headers,
            console: console
        )
        var (answered, count, size) = (0, 0, 0)
        for source in operands.sources {
            for question in try source.questions(console) {
                let answer = explain.answer(question)
                count += 1
                if answer?.response != nil {
                    answered += 1
                    size += answer?.explanation.substitution?.size ?? 0
                }
                if arguments.has(json) {
                    try explain.printJSON(question.url, answer)
                } else {
                    explain.printText(question.url, answer)
                }
            }
        }
        if count > 1, !arguments.has(json) {
            console.print("\(answered) of \(counted(count, "URL")) would come from the bundle, \(ByteCount(size))")
        }
        return arguments.has(require) && answered < count ? 1 : 0
    }

    private typealias Answer = (explanation: Explanation, response: HTTPURLResponse?)

    /// The explanation, and the response when a file answers.
    ///
    /// Nil when the text is no URL at all.
    private func answer(_ question: ExplainOperands.Question) -> Answer? {
        guard let url = URL(string: Self.encoded(question.url)) else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = question.method ?? method
        for header in headers { request.setValue(header.value, forHTTPHeaderField: header.name) }
        let explanation = table.explain(request)
        switch explanation.answer {
        case .cacheAndProtocol, .protocolOnly: return (explanation, table.response(to: request))
        case .networkUnless, .network: return (explanation, nil)
        }
    }

    /// What stands for itself in a path and a query (RFC 3986 §3.3, §3.4), and what begins them.
    private static let kept = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?#".utf8
    )

    /// A URL with all encoded that Foundation would encode, and each `%` with it.
    private static func encoded(_ url: String) -> String {
        let scheme = url.range(of: "://")?.upperBound ?? url.startIndex
        let start = url[scheme...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        let (bytes, path) = (Array(url.utf8), url[..<start].utf8.count)
        return bytes.indices.map { index in
            let byte = bytes[index]
            let next = bytes[index...].dropFirst().prefix(2)
            let isEscape = next.count == 2 && next.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
            let isKept =
                index < path ? byte < 0x80 : Self.kept.contains(byte) || byte == UInt8(ascii: "%") && isEscape
            return isKept ? String(UnicodeScalar(byte)) : String(format: "%%%02X", byte)
        }.joined()
    }

    private func printText(_ text: String, _ answer: Answer?) {
        guard let (explanation, response) = answer else {
            console.print("\(quoted(text)) is not a URL.\n")
            return
        }
        console.print(explanation.description)
        if let entry = explanation.substitution {
            console.print("  entry  \(visible(path)):\(entry.line): \(quoted(entry.url))")
            console.print("  file   \(visible(entry.file)), \(ByteCount(entry.size))")
        }
        if let response {
            console.print("  HTTP/1.1 \(response.statusCode)")
            for (name, value) in Self.fields(response) { console.print("  \(name): \(visible(value))") }
        }
        console.print("")
    }

    private func printJSON(_ text: String, _ answer: Answer?) throws {
        struct Line: Encodable {
            let url: String
            let substituted: Bool
            var file: String?
            var status: Int?
            var headers: [String: String]?
            var reason: String?
        }
        guard let (explanation, response) = answer else {
            console.print(try JSONLine.encode(Line(url: visible(text), substituted: false, reason: "not a URL")))
            return
        }
        let headers = response.map { Dictionary(Self.fields($0), uniquingKeysWith: { $1 }).mapValues { visible($0) } }
        let line = Line(
            url: visible(text),
            substituted: response != nil,
            file: explanation.substitution.map { visible($0.file) },
            status: response?.statusCode,
            headers: headers,
            reason: explanation.description
        )
        console.print(try JSONLine.encode(line))
    }

    private static func fields(_ response: HTTPURLResponse) -> [(String, String)] {
        (response.allHeaderFields as? [String: String] ?? [:]).sorted { $0.key < $1.key }
    }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Prints, for each request, the file that answers or the reason why no file answers.
struct ExplainCommand {
    static let command = Command(
        name: "explain",
        summary: "Shows for each URL which file answers it, or why none does.",
        operands: "[OPTIONS] [MANIFEST] URL|FILE…",
        operandKind: .manifest,
        options: [method, header, require, json],
        discussion: """
            Prints the entry and the file that answer a URL, with the status and headers of the response; or the
            reason why the URL is left to the network, with the nearest entry. FILE is a list of URLs, one per line,
            or a recording of a page (HAR); - reads either from standard input. For several URLs, the last line says
            how many of them files answer.

            For a recording by the app (cache.record(to:)), the command lists the URLs that the network answered:
            first those that files could answer, with the commands that add them, then those that files cannot answer.
            The first list begins with URLs that their servers promise not to change, then come those with the most
            bytes. A response that may be for one person gets no command.

            Each URL is read as an app reads it, with URL(string:). If a browser would request another URL for the
            same text, the answer for that URL follows.

            \(Command.aboutManifest)

            Exits with 0 if the manifest could be read; 1 if it has errors or, with --require, if no file answers one
            of the URLs; and 2 on a usage error.
            """,
        example: """
              substitute explain https://example.com/css/site.css
              substitute explain --require page.har
              substitute explain app.har
            """,
        run: run
    )

    private static let method = Option(
        "method",
        short: "m",
        value: "method",
        "The method of the request; by default GET."
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
        let operands = try ExplainOperands(arguments.operands, in: console.folder)
        let file = try ManifestLocation(console).find(operands.manifest)
        let headers = try arguments.values(header).map { header throws(UsageError) in
            guard let colon = header.firstIndex(of: ":"), colon > header.startIndex else {
                throw UsageError("\(quoted(header)) is not a header; write it as 'Name: value'")
            }
            let value = header[header.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (String(header[..<colon]), value)
        }
        let table: SubstitutionTable
        do {
            table = try .of(file)
        } catch {
            console.printError("\(error)")
            return 1
        }
        let explain = ExplainCommand(
            table: table,
            path: file.name,
            method: arguments.values(method).last ?? "GET",
            headers: headers,
            console: console
        )
        var (answered, count, size, isAboutURLs) = (0, 0, 0, false)
        for source in operands.sources {
            switch try source.subject(console) {
            case .traffic(let traffic, let name):
                let report = TrafficReport(traffic, name, table, MissExplainer(file, console.tool), console)
                if arguments.has(json) { try report.printJSON() } else { report.printText() }
                count += report.missCount
            case .questions(let questions):
                for question in questions {
                    let answer = explain.answer(question)
                    count += 1
                    if answer.response != nil {
                        answered += 1
                        size += answer.explanation?.substitution?.size ?? 0
                    }
                    if arguments.has(json) {
                        try explain.printJSON(answer)
                    } else {
                        explain.printText(answer)
                    }
                }
                isAboutURLs = true
            }
        }
        if isAboutURLs, count > 1, !arguments.has(json) {
            console.print("\(answered) of \(counted(count, "URL")) would come from the bundle, \(ByteCount(size))")
        }
        return arguments.has(require) && answered < count ? 1 : 0
    }

    // MARK: - Answers

    /// The explanation of one request, in the form in which it is printed.
    private struct ExplainedRequest {
        /// The URL as the operand contains it; if it begins with `//`, a scheme is added.
        let text: String
        /// The explanation; nil if Foundation cannot create a URL from the text.
        let explanation: Explanation?
        /// The response of the file; nil if no file answers.
        let response: HTTPURLResponse?
        /// The URL that a browser derives from the text.
        ///
        /// Nil if an app derives the same URL, or if a browser derives no URL.
        let browserURL: String?
        /// The answer in words.
        let sentence: String
    }

    private func answer(_ question: ExplainOperands.Question) -> ExplainedRequest {
        // A recording has the URL that a browser has sent, and a list has the text that an app would parse.
        let url = question.method == nil ? URL(string: question.url) : URL(ofBrowser: question.url)
        let (explanation, response) = url.map { explain($0, question) } ?? (nil, nil)
        var sentence =
            explanation?.description ?? WrongURL.problem(of: question.url)
            ?? "\(quoted(question.url)) is not a URL; an app gets nil from URL(string:)."
        var browserURL: String?
        let browser = BrowserURL(question.url)
        switch browser {
        case .url(let text) where text != url.map(BrowserURL.normalForm):
            let (explanation, _) = URL(string: text).map { explain($0, question) } ?? (nil, nil)
            sentence += " A browser asks for \(visible(text)) instead, which \(Self.clause(explanation))."
            browserURL = text
        case .invalid where explanation?.substitution != nil: sentence += " A browser does not accept it as a URL."
        default: break
        }
        return ExplainedRequest(
            text: question.url,
            explanation: explanation,
            response: response,
            browserURL: browserURL,
            sentence: sentence
        )
    }

    /// Returns the explanation, and the response if a file answers.
    private func explain(
        _ url: URL,
        _ question: ExplainOperands.Question
    ) -> (Explanation?, response: HTTPURLResponse?) {
        var request = URLRequest(url: url)
        request.httpMethod = question.method ?? method
        for header in headers { request.setValue(header.value, forHTTPHeaderField: header.name) }
        let explanation = table.explain(request, Advice())
        switch explanation.answer {
        case .cacheAndProtocol, .protocolOnly:
            return (explanation, table.answer(to: request)?.response as? HTTPURLResponse)
        case .networkUnless, .network: return (explanation, nil)
        }
    }

    /// Returns the end of a sentence about a URL.
    private static func clause(_ explanation: Explanation?) -> String {
        let file = quoted(explanation?.substitution?.file ?? "")
        switch explanation?.answer {
        case .cacheAndProtocol, .protocolOnly: return "\(file) answers"
        case .networkUnless: return "is loaded from the network, unless \(file) has to answer"
        case .network, nil: return "no file answers"
        }
    }

    // MARK: - Output

    private func printText(_ answer: ExplainedRequest) {
        console.print(answer.sentence)
        if let entry = answer.explanation?.substitution {
            console.print("  entry  \(visible(path)):\(entry.line): \(quoted(entry.url))")
            console.print("  file   \(visible(entry.file)), \(ByteCount(entry.size))")
        }
        if let response = answer.response {
            console.print("  HTTP/1.1 \(response.statusCode)")
            for (name, value) in Self.fields(response) { console.print("  \(name): \(visible(value))") }
        }
        console.print("")
    }

    private func printJSON(_ answer: ExplainedRequest) throws {
        struct OutputLine: Encodable {
            let url: String
            let substituted: Bool
            let file: String?
            let status: Int?
            let headers: [String: String]?
            let reason: String
            let browserURL: String?
        }
        let fields = answer.response.map { Dictionary(Self.fields($0), uniquingKeysWith: { $1 }) }
        let line = OutputLine(
            url: visible(answer.text),
            substituted: answer.response != nil,
            file: answer.explanation?.substitution.map { visible($0.file) },
            status: answer.response?.statusCode,
            headers: fields?.mapValues { visible($0) },
            reason: answer.sentence,
            browserURL: answer.browserURL.map { visible($0) }
        )
        console.print(try JSONLine.encode(line))
    }

    private static func fields(_ response: HTTPURLResponse) -> [(String, String)] {
        (response.allHeaderFields as? [String: String] ?? [:]).sorted { $0.key < $1.key }
    }
}

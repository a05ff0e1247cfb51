import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit
import SubstitutionChecking
import SubstitutionRules

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
        options: [method, header, require, format, .json],
        discussion: """
            Prints the entry and the file that answer a URL, with the status and headers of the response; or the
            reason why the URL is left to the network, with the nearest entry. FILE is a list of URLs, one per line,
            or a recording of a page (HAR); - reads either from standard input. For a recording, and for more than five
            URLs, the URLs that no file answers come first, with the commands that add them, then one line for each
            file; --format json has the details. For several URLs, the last line says how many of them files answer.

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
    ) { $0 }
    private static let header = Option(
        repeated: "header",
        short: "H",
        value: "header",
        "A header of the request, as 'Name: value'. May be repeated."
    ) { texts in
        try texts.map { header in
            guard let colon = header.firstIndex(of: ":"), colon > header.startIndex else {
                throw UsageError("a header has no name before a colon; write it as 'Name: value'")
            }
            let value = header[header.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (name: String(header[..<colon]), value: value)
        }
    }
    private static let require = Option("require", "Exit with 1 when a URL is not answered by a file.")
    private static let format = ReportFormat.option(of: "URL", [.text, .json])

    private let table: SubstitutionTable
    private let path: String
    private let method: String
    private let headers: [(name: String, value: String)]
    private let explainer: MissExplainer
    private let console: Console

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
        let operands = try ExplainOperands(arguments.operands, in: console.folder)
        let (headers, isJSON) = try (arguments[header], arguments.format(format) == .json)
        let file = try ManifestLocation(console).find(operands.manifest)
        let explain = ExplainCommand(
            table: try file.table(),
            path: file.name,
            method: try arguments[method] ?? "GET",
            headers: headers,
            explainer: MissExplainer(manifest: file),
            console: console
        )
        var questions: [ExplainOperands.Question] = []
        var missCount = 0
        for subject in try operands.subjects(console) {
            switch subject {
            case .traffic(let traffic, let name):
                let report = TrafficReport(traffic, name, explain.table, explain.explainer, console)
                if isJSON { try report.printJSON() } else { report.printText() }
                missCount += report.missCount
            case .questions(let more): questions += more
            }
        }
        let answers = explain.answers(to: questions)
        missCount += answers.count { $0.response == nil }
        if isJSON {
            for answer in answers { try explain.printJSON(answer) }
        } else {
            explain.printText(answers)
        }
        return arguments.has(require) && missCount > 0 ? .bad : .good
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
        /// The method of a recorded request; nil for a URL that was not recorded.
        let method: String?
        /// The command line that adds the URL; nil if no command can.
        let command: String?

        var isRecorded: Bool { method != nil }

        /// The answer in words without the URL, for a list of URLs with the same answer.
        var reason: String {
            let subjects = [visible(explanation?.url?.url.absoluteString ?? ""), quoted(text)].map { $0 + " is " }
            guard let subject = subjects.first(where: sentence.hasPrefix) else { return sentence }
            let rest = sentence.dropFirst(subject.count)
            return rest.prefix(1).uppercased() + rest.dropFirst()
        }
    }

    private func answers(to questions: [ExplainOperands.Question]) -> [ExplainedRequest] {
        // If another of the URLs gets a neighbour's file, the neighbour's URL is not this one with a mistake.
        let urls = questions.count < 2 ? [] : questions.compactMap { explain($0)?.substitution?.url }
        let used = Set(urls)
        return questions.map { answer($0, besides: used) }
    }

    private func answer(_ question: ExplainOperands.Question, besides used: Set<String>) -> ExplainedRequest {
        var explanation = explain(question)
        explanation?.removeNeighbour(amongst: used)
        let obstacle =
            question.method == nil
            ? MissExplainer.obstacle(to: question.url, method: method, status: 200) : question.obstacle
        var command = explanation.flatMap(explainer.command)
        var sentence =
            explanation?.sentence ?? URLAdvice.problem(of: question.url)
            ?? "\(quoted(question.url)) is not a URL; an app gets nil from URL(string:)."
        if command != nil, let obstacle { (command, sentence) = (nil, "\(sentence) \(obstacle)") }
        var browserURL: String?
        let browser = BrowserURL(question.url)
        switch browser {
        case .url(let text) where text != (explanation?.url?.url).map(BrowserURL.normalForm):
            let other = URL(string: text).map { explain($0, question) }
            sentence += " A browser asks for \(visible(text)) instead, which \(Self.clause(other))."
            // Servers and pages mean the URL that a browser derives.
            command = obstacle == nil ? other.flatMap(explainer.command) : nil
            browserURL = text
        case .invalid where explanation?.substitution != nil: sentence += " A browser does not accept it as a URL."
        default: break
        }
        return ExplainedRequest(
            text: question.url,
            explanation: explanation,
            response: explanation.flatMap { response($0, question.method) },
            browserURL: browserURL,
            sentence: sentence,
            method: question.method,
            command: command
        )
    }

    /// Returns the explanation of a request; nil if Foundation cannot create its URL.
    private func explain(_ question: ExplainOperands.Question) -> Explanation? {
        // A recording has the URL that a browser has sent, and a list has the text that an app would parse.
        let url = question.method == nil ? URL(string: question.url) : URL(ofBrowser: question.url)
        return url.map { explain($0, question) }
    }

    private func explain(_ url: URL, _ question: ExplainOperands.Question) -> Explanation {
        table.explain(request(url, question.method ?? method))
    }

    private func request(_ url: URL, _ method: String) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = method
        for header in headers { request.setValue(header.value, forHTTPHeaderField: header.name) }
        return request
    }

    /// Returns the response of the file; nil if no file answers.
    private func response(_ explanation: Explanation, _ method: String?) -> HTTPURLResponse? {
        (explanation.url?.url).flatMap { table.answer(to: request($0, method ?? self.method)) }?.response
            as? HTTPURLResponse
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

    /// The largest number of URLs for which everything is printed.
    private static let mostWithDetails = 5

    private func printText(_ answers: [ExplainedRequest]) {
        if answers.count > Self.mostWithDetails || answers.contains(where: \.isRecorded) {
            printSummary(answers)
        } else {
            answers.forEach(printDetails)
        }
        guard answers.count > 1 || answers.contains(where: \.isRecorded) else { return }
        let answered = answers.filter { $0.response != nil }
        let size = ByteCount(answered.reduce(0) { $0 + ($1.explanation?.substitution?.size ?? 0) })
        console.print("\(answered.count) of \(counted(answers.count, "URL")) would come from files, \(size)")
    }

    private func printDetails(_ answer: ExplainedRequest) {
        console.print(answer.sentence)
        let words = answer.explanation?.nearest == nil ? "Add it with" : "Or add this URL with"
        if let command = answer.command { console.print("  \(words): \(command)") }
        if let entry = answer.explanation?.substitution {
            console.print("  entry  \(visible(path)):\(entry.line): \(quoted(entry.url))")
            console.print("  file   \(visible(entry.file)), \(ByteCount(entry.size)), \(entry.mediaType)")
        }
        console.print("")
    }

    /// Prints the misses, grouped by their reasons, and then one line for each URL that a file answers.
    private func printSummary(_ answers: [ExplainedRequest]) {
        // Begin with the misses that a command can change.
        let misses = answers.filter { $0.response == nil }
        let sorted = misses.filter { $0.command != nil } + misses.filter { $0.command == nil }
        for (reason, same) in sorted.grouped(by: \.reason) {
            console.print(reason)
            for miss in same {
                let method = miss.method ?? "GET"
                let request = (method == "GET" ? "" : visible(method) + " ") + visible(miss.text)
                console.print("  \(miss.command ?? request)")
            }
            console.print("")
        }
        let hits = answers.filter { $0.response != nil }
        for hit in hits {
            let file = visible(hit.explanation?.substitution?.file ?? "")
            var limit = ""
            if case .protocolOnly = hit.explanation?.answer { limit = ", only in sessions with substitutions" }
            console.print("\(visible(hit.text)) → \(file)\(limit)")
        }
        if !hits.isEmpty { console.print("") }
    }

    private func printJSON(_ answer: ExplainedRequest) throws {
        let fields = answer.response?.allHeaderFields as? [String: String]
        try console.printJSON([
            "url": visible(answer.text), "substituted": answer.response != nil,
            "file": answer.explanation?.substitution.map { visible($0.file) },
            "status": answer.response?.statusCode, "headers": fields?.mapValues { visible($0) },
            "reason": answer.sentence, "browserURL": answer.browserURL.map { visible($0) }, "command": answer.command,
        ])
    }
}

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
        options: [require, format],
        run: run
    )

    private static let require = Option("require")
    private static let format = ReportFormat.option([.text, .json])

    private let table: SubstitutionTable
    private let path: String
    private let explainer: MissExplainer
    private let console: Console

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
        let operands = try ExplainOperands(arguments.operands, in: console.folder)
        let format = try arguments[format] ?? .text
        let file = try ManifestLocation(console).find(operands.manifest)
        let explain = ExplainCommand(
            table: try file.table(),
            path: file.name,
            explainer: MissExplainer(manifest: file),
            console: console
        )
        var questions: [ExplainOperands.Question] = []
        var missCount = 0
        for subject in try operands.subjects(console) {
            switch subject {
            case .traffic(let traffic, let name):
                let report = TrafficReport(traffic, name, explain.table, explain.explainer, console)
                try report.print(as: format)
                missCount += report.missCount
            case .questions(let more): questions += more
            }
        }
        let answers = explain.answers(to: questions)
        missCount += answers.count { $0.response == nil }
        try explain.print(answers, as: format)
        return arguments.has(require) && missCount > 0 ? .bad : .good
    }

    // MARK: - Answers

    /// The explanation of one request, in the form in which it is printed.
    private struct ExplainedRequest {
        let question: ExplainOperands.Question
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
        /// The command line that adds the URL; nil if no command can.
        let command: String?

        /// The URL as the operand contains it; if it begins with `//`, a scheme is added.
        var text: String { question.url }
        var isRecorded: Bool { question.method != nil }

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
            ? MissExplainer.obstacle(to: question.url, method: "GET", status: 200) : question.obstacle
        let miss = explanation.map { explainer.miss(question.url, $0, unless: obstacle) }
        var command = miss?.command
        var sentence =
            miss?.reason ?? URLAdvice.problem(of: question.url)
            ?? "\(quoted(question.url)) is not a URL; an app gets nil from URL(string:)."
        var browserURL: String?
        let asked = explanation?.url?.url.absoluteString
        if let text = URL.normalForm(ofTyped: question.url), text != asked.flatMap(URL.normalForm(_:)) {
            let other = URL(string: text).map { table.explain(URLRequest($0, method: question.method)) }
            sentence += " A browser asks for \(visible(text)) instead, which \(Self.clause(other))."
            // Servers and pages mean the URL that a browser derives.
            command = obstacle == nil ? other.flatMap(explainer.command) : nil
            browserURL = text
        }
        return ExplainedRequest(
            question: question,
            explanation: explanation,
            response: explanation.flatMap { response($0, question.method) },
            browserURL: browserURL,
            sentence: sentence,
            command: command
        )
    }

    /// Returns the explanation of a request; nil if Foundation cannot create its URL.
    private func explain(_ question: ExplainOperands.Question) -> Explanation? {
        // A recording has the URL that a browser has sent, and a list has the text that an app would parse.
        let url = question.method == nil ? URL(string: question.url) : URL(ofBrowser: question.url)
        return url.map { table.explain(URLRequest($0, method: question.method)) }
    }

    /// Returns the response of the file; nil if no file answers.
    private func response(_ explanation: Explanation, _ method: String?) -> HTTPURLResponse? {
        (explanation.url?.url).flatMap { table.answer(to: URLRequest($0, method: method)) }?.response
            as? HTTPURLResponse
    }

    /// Returns the end of a sentence about a URL.
    private static func clause(_ explanation: Explanation?) -> String {
        let file = quoted(explanation?.substitution?.path ?? "")
        switch explanation?.answer {
        case .cacheAndProtocol, .protocolOnly: return "\(file) answers"
        case .networkUnless: return "is loaded from the network, unless \(file) has to answer"
        case .network, nil: return "no file answers"
        }
    }

    // MARK: - Output

    /// The largest number of URLs for which everything is printed.
    private static let mostWithDetails = 5

    private func print(_ answers: [ExplainedRequest], as format: ReportFormat) throws {
        let isSummary = answers.count > Self.mostWithDetails || answers.contains(where: \.isRecorded)
        let answered = answers.filter { $0.response != nil }
        let size = ByteCount(answered.reduce(0) { $0 + ($1.explanation?.substitution?.size ?? 0) })
        let sum = "\(answered.count) of \(counted(answers.count, "URL")) would come from files, \(size)"
        let lines = isSummary ? summary(of: answers) : answers.flatMap(details)
        try console.print(
            format == .json ? answers.map { ReportItem(object($0)) } : [ReportItem(lines: lines)],
            sum: answers.count > 1 || answers.contains(where: \.isRecorded) ? [sum] : [],
            as: format
        )
    }

    private func details(_ answer: ExplainedRequest) -> [String] {
        let words = answer.explanation?.nearest == nil ? "Try" : "Or try"
        let entry = answer.explanation?.substitution.map { entry in
            [
                "  entry  \(visible(path)):\(entry.line): \(quoted(entry.url))",
                "  file   \(visible(entry.path)), \(ByteCount(entry.size)), \(entry.mediaType)",
            ]
        }
        return [answer.sentence] + (answer.command.map { ["  \(words): \($0)"] } ?? []) + (entry ?? []) + [""]
    }

    /// Returns the misses, grouped by their reasons, and then one line for each URL that a file answers.
    private func summary(of answers: [ExplainedRequest]) -> [String] {
        // Begin with the misses that a command can change.
        let misses = answers.filter { $0.response == nil }
        let sorted = misses.filter { $0.command != nil } + misses.filter { $0.command == nil }
        let missed = sorted.grouped { $0.reason + ($0.command == nil ? "" : " Try:") }.flatMap { reason, same in
            let lines = same.map { miss in
                let method = miss.question.method ?? "GET"
                return "  " + (miss.command ?? (method == "GET" ? "" : visible(method) + " ") + visible(miss.text))
            }
            return [reason] + lines + [""]
        }
        let hits = answers.filter { $0.response != nil }.map { hit in
            let file = visible(hit.explanation?.substitution?.path ?? "")
            return "\(visible(hit.text)) → \(file)"
        }
        return missed + hits + (hits.isEmpty ? [] : [""])
    }

    private func object(_ answer: ExplainedRequest) -> JSONObject {
        let fields = answer.response?.allHeaderFields as? [String: String]
        return [
            "url": visible(answer.text), "substituted": answer.response != nil,
            "file": answer.explanation?.substitution.map { visible($0.path) },
            "status": answer.response?.statusCode, "headers": fields?.mapValues { visible($0) },
            "reason": answer.sentence, "browserURL": answer.browserURL.map { visible($0) }, "command": answer.command,
        ]
    }
}

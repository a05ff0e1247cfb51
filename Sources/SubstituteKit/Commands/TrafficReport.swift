import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Prints the resources that a recorded app loaded from the network.
struct TrafficReport {
    private let traffic: RecordedTraffic
    private let name: String
    private let console: Console
    /// The URLs that files could answer, with the commands that add them.
    private var missed: [(item: RecordedTraffic.Item, miss: Miss)] = []
    /// The URLs that the manifest answers now, because it has changed since the recording, with their files.
    private var added: [(item: RecordedTraffic.Item, file: String)] = []

    init(
        _ traffic: RecordedTraffic,
        _ name: String,
        _ table: SubstitutionTable,
        _ explainer: MissExplainer,
        _ console: Console
    ) {
        (self.traffic, self.name, self.console) = (traffic, name, console)
        func substitution(for url: String) -> Substitution? {
            URL(ofBrowser: url).flatMap { table.explain(URLRequest(url: $0)).substitution }
        }
        let used = Set(traffic.urls.compactMap { substitution(for: $0)?.url })
        for item in traffic.candidates {
            if let substitution = substitution(for: item.url) {
                added.append((item, substitution.path))
            } else {
                // A candidate's server answered 200.
                missed.append((item, explainer.miss(item.url, answered: 200, besides: used, in: table)))
            }
        }
    }

    /// The number of URLs that files could answer, and that the manifest does not answer.
    var missCount: Int { missed.count }

    /// The URLs in three groups, each under its heading.
    func print(as format: ReportFormat) throws {
        let summary =
            "\(visible(name)): \(counted(traffic.requests, "request")), \(traffic.fromFiles) answered by the app, "
            + "\(ByteCount(traffic.bytesFromFiles)) not loaded"
        func item(
            _ item: RecordedTraffic.Item,
            _ words: String = "",
            refusal: String? = nil,
            _ miss: Miss? = nil,
            _ lines: [String?] = []
        ) -> ReportItem {
            let method = item.method == "GET" ? "" : item.method + " "
            let line = "  \(item.times) × \(method)\(visible(item.url)), \(ByteCount(item.byteCount))\(words)"
            return ReportItem(
                lines: [line] + lines.compactMap { $0.map { "      \($0)" } },
                [
                    "url": visible(item.url), "method": item.method, "times": item.times, "bytes": item.byteCount,
                    "reason": miss?.reason, "refusal": refusal.map { visible($0) }, "command": miss?.command,
                ]
            )
        }
        let missed = missed.map { each, miss in
            item(
                each,
                each.staysTheSame ? ", which its server promises not to change" : "",
                miss,
                [miss.reason, miss.command]
            )
        }
        let added = added.map { each, file in
            item(each, " → \(visible(file))", refusal: "\(quoted(file)) answers it now")
        }
        let others = traffic.others.map { item($0, refusal: $0.refusal, nil, [visible($0.refusal ?? "")]) }
        let groups = [
            ("From the network, with the commands to try:", missed),
            ("From the network, but the manifest has had entries for them since then:", added),
            ("From the network, where files cannot answer:", others),
        ].filter { !$0.1.isEmpty }
        try console.print(
            [ReportItem(lines: [summary])] + groups.flatMap { [ReportItem(lines: ["", $0])] + $1 },
            as: format
        )
    }
}

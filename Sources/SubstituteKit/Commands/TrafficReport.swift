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
                added.append((item, substitution.file))
            } else {
                // A candidate's server answered 200.
                missed.append((item, explainer.miss(item.url, answered: 200, besides: used, in: table)))
            }
        }
    }

    /// The number of URLs that files could answer, and that the manifest does not answer.
    var missCount: Int { missed.count }

    func printText() {
        console.print(
            "\(visible(name)): \(counted(traffic.requests, "request")), \(traffic.fromFiles) answered by the app, "
                + "\(ByteCount(traffic.bytesFromFiles)) not loaded"
        )
        if !missed.isEmpty { console.print("\nFrom the network, with the commands that add them:") }
        for (item, miss) in missed {
            console.print(Self.line(item) + (item.staysTheSame ? ", which its server promises not to change" : ""))
            console.print("      \(miss.reason)")
            if let command = miss.command { console.print("      \(command)") }
        }
        if !added.isEmpty { console.print("\nFrom the network, but the manifest has had entries for them since then:") }
        for (item, file) in added { console.print("\(Self.line(item)) → \(visible(file))") }
        if !traffic.others.isEmpty { console.print("\nFrom the network, where files cannot answer:") }
        for item in traffic.others {
            console.print(Self.line(item))
            console.print("      \(visible(item.refusal ?? ""))")
        }
    }

    private static func line(_ item: RecordedTraffic.Item) -> String {
        let method = item.method == "GET" ? "" : item.method + " "
        return "  \(item.times) × \(method)\(visible(item.url)), \(ByteCount(item.byteCount))"
    }

    func printJSON() throws {
        func print(_ item: RecordedTraffic.Item, refusal: String? = nil, _ miss: Miss? = nil) throws {
            try console.printJSON([
                "url": visible(item.url), "method": item.method, "times": item.times, "bytes": item.byteCount,
                "reason": miss?.reason, "refusal": refusal.map { visible($0) },
                "command": miss?.command,
            ])
        }
        for (item, miss) in missed { try print(item, miss) }
        for (item, file) in added { try print(item, refusal: "\(quoted(file)) answers it now") }
        for item in traffic.others { try print(item, refusal: item.refusal) }
    }
}

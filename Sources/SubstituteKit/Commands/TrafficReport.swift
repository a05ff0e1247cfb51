import LocalSubstitutionCache
import SubstituteCheckKit

/// Prints the resources that a recorded app loaded from the network.
struct TrafficReport {
    private let traffic: RecordedTraffic
    private let name: String
    private let manifest: ManifestFile
    private let console: Console

    init(_ traffic: RecordedTraffic, _ name: String, _ manifest: ManifestFile, _ console: Console) {
        (self.traffic, self.name, self.manifest, self.console) = (traffic, name, manifest, console)
    }

    func printText() {
        console.print(
            "\(visible(name)): \(counted(traffic.requests, "request")), \(traffic.fromFiles) answered by the app, "
                + "\(ByteCount(traffic.bytesFromFiles)) not loaded"
        )
        var names = FileNames(in: manifest.folder)
        if !traffic.candidates.isEmpty { console.print("\nFrom the network, with the entries to write:") }
        for item in traffic.candidates {
            console.print(Self.line(item) + (item.staysTheSame ? ", which its server promises not to change" : ""))
            console.print("      \(visible(item.reason))")
            if let entry = item.entry(&names) { console.print("      \(visible(entry))") }
        }
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
        struct OutputLine: Encodable {
            let url: String
            let method: String
            let times: Int
            let bytes: Int
            let reason: String
            let refusal: String?
            let entry: String?
        }
        var names = FileNames(in: manifest.folder)
        for item in traffic.candidates + traffic.others {
            let line = OutputLine(
                url: visible(item.url),
                method: item.method,
                times: item.times,
                bytes: item.byteCount,
                reason: visible(item.reason),
                refusal: item.refusal.map { visible($0) },
                entry: item.entry(&names)
            )
            console.print(try JSONLine.encode(line))
        }
    }
}

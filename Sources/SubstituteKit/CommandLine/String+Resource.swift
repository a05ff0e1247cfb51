extension String {
    /// Creates a text from a file of the folder `Resources`, which the build embeds in the program.
    init(resource: [UInt8]) { self.init(decoding: resource, as: UTF8.self) }

    /// Creates a text from a part of such a file; the part follows a line such as `== add`.
    init?(section name: String, of resource: [UInt8]) {
        let lines = String(resource: resource).dropLast().split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(of: "== \(name)") else { return nil }
        self = lines[(start + 1)...].prefix { !$0.hasPrefix("== ") }.joined(separator: "\n")
    }
}

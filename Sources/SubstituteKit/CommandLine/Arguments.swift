import LocalSubstitutionCache
import SubstituteCheckKit

/// One option of a command, in GNU syntax: `--name value`, `--name=value`, `-n value`, `-nvalue`.
struct Option: Sendable {
    let name: String
    let short: Character?
    /// The name of the value in the help and in messages; nil for an option that takes no value.
    let value: String?
    /// The valid values, for completion in a shell; empty if the values cannot be listed.
    let choices: [String]
    let help: String

    init(_ name: String, short: Character? = nil, value: String? = nil, choices: [String] = [], _ help: String) {
        (self.name, self.short, self.value, self.choices, self.help) = (name, short, value, choices, help)
    }

    static let help = Option("help", short: "h", "Print this help.")
}

/// The words of a command line, split into options and operands.
struct Arguments {
    /// The words that are not options, in the order of the command line.
    ///
    /// `-` means standard input. Everything after `--` is an operand.
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]
    /// All commands of the tool, to say which of them has an option that this one lacks.
    private let commands: [Command]

    init(_ words: some Sequence<String>, _ options: [Option], among commands: [Command] = []) throws(UsageError) {
        self.commands = commands
        var words = Array(words)[...]
        while let word = words.popFirst() {
            if word == "--" {
                operands += words
                return
            } else if word.hasPrefix("--") {
                try readLong(word.dropFirst(2), options, &words)
            } else if let dash = word.first, "–—".contains(dash) {
                throw UsageError(
                    "\(quoted(word)) begins with a dash (\(dash)) that an editor made of hyphens; write "
                        + quoted("--" + word.drop { "-–—".contains($0) })
                )
            } else if word.hasPrefix("-"), word != "-" {
                try readShort(word.dropFirst(), options, &words)
            } else {
                operands.append(word)
            }
        }
    }

    /// True if an option was given.
    func has(_ option: Option) -> Bool { values[option.name] != nil }

    /// The values given for an option, in the order of the command line.
    func values(_ option: Option) -> [String] { values[option.name, default: []] }

    private mutating func readLong(
        _ word: Substring,
        _ options: [Option],
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.first.map(String.init) ?? ""
        guard let option = options.first(where: { $0.name == name }) else {
            let meant = OtherTools.remedy(forOption: name, options, among: commands).map { "; \($0)" } ?? ""
            throw UsageError("there is no option \(quoted("--" + name))\(meant)")
        }
        try store(option, parts.count > 1 ? String(parts[1]) : nil, &rest)
    }

    private mutating func readShort(
        _ word: Substring,
        _ options: [Option],
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        var letters = word
        while let letter = letters.popFirst() {
            guard let option = options.first(where: { $0.short == letter }) else {
                // A word with several letters may be a long option with one hyphen, as in `-strict`.
                let name = word.count > 1 ? String(word.prefix { $0 != "=" }) : String(letter)
                let meant = OtherTools.remedy(forOption: name, options, among: commands).map { "; \($0)" } ?? ""
                throw UsageError("there is no option \(quoted("-\(name)"))\(meant)")
            }
            let attached = option.value == nil || letters.isEmpty ? nil : String(letters)
            try store(option, attached, &rest)
            if attached != nil { return }
        }
    }

    private mutating func store(
        _ option: Option,
        _ attached: String?,
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        guard let kind = option.value else {
            guard attached == nil else { throw UsageError("--\(option.name) takes no value") }
            values[option.name, default: []].append("")
            return
        }
        guard let value = attached ?? rest.popFirst() else { throw UsageError("--\(option.name) needs a \(kind)") }
        if attached == nil, Quantity.isNumber(value), let unit = rest.first, Quantity.isUnit(unit) {
            throw UsageError(
                "\(quoted("\(value) \(unit)")) is two words; write \(quoted("--\(option.name) \(value)\(unit)"))"
            )
        }
        values[option.name, default: []].append(value)
    }
}

import LocalSubstitutionCache
import SubstituteCheckKit

/// The name of an option, in GNU syntax: `--name value`, `--name=value`, `-n value`, `-nvalue`.
protocol CommandOption: Sendable {
    var name: String { get }
    var short: Character? { get }
    /// The name of the value in messages; nil for an option that takes no value.
    var value: String? { get }
    /// The valid values, for completion in a shell; empty if the values cannot be listed.
    var choices: [String] { get }
}

/// An option with the type of its value: a Boolean for an option that takes none, or what its texts mean.
struct Option<Value: Sendable>: CommandOption {
    let name: String
    var short: Character?
    var value: String?
    var choices: [String] = []
    /// Parses the texts of the option in the order of the command line; there are none if it was not given.
    let parse: @Sendable ([String]) throws -> Value
}

extension Option {
    /// Creates an option that takes no value.
    init(_ name: String, short: Character? = nil) where Value == Bool {
        self.init(name: name, short: short) { !$0.isEmpty }
    }

    /// Creates an option whose last value counts.
    init<One>(
        _ name: String,
        short: Character? = nil,
        value: String,
        choices: [String] = [],
        _ parse: @escaping @Sendable (String) throws -> One
    ) where Value == One? {
        self.init(name: name, short: short, value: value, choices: choices) { try $0.last.map(parse) }
    }

    /// Creates an option that may be repeated.
    init(
        repeated name: String,
        short: Character? = nil,
        value: String,
        _ parse: @escaping @Sendable ([String]) throws -> Value
    ) {
        self.init(name: name, short: short, value: value, parse: parse)
    }
}

extension CommandOption where Self == Option<Bool> {
    static var help: Self { Self("help", short: "h") }
}

/// The words of a command line, split into options and operands.
struct Arguments {
    /// The words that are not options, in the order of the command line.
    ///
    /// `-` means standard input. Everything after `--` is an operand.
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]
    private let words: [String]
    private let options: [any CommandOption]
    /// All commands of the tool, to say which of them has an option that this one lacks.
    private let commands: [Command]

    init(
        _ words: some Sequence<String>,
        _ options: [any CommandOption],
        among commands: [Command] = []
    ) throws(UsageError) {
        (self.commands, self.words, self.options) = (commands, Array(words), options)
        var words = self.words[...]
        while let word = words.popFirst() {
            if word == "--" {
                operands += words
                return
            } else if word.hasPrefix("--") {
                try readLong(word.dropFirst(2), &words)
            } else if let dash = word.first, "–—".contains(dash) {
                throw UsageError(
                    "\(quoted(word)) begins with a dash (\(dash)) that an editor made of hyphens; write "
                        + quoted("--" + word.drop { "-–—".contains($0) })
                )
            } else if word.hasPrefix("-"), word != "-" {
                try readShort(word.dropFirst(), &words)
            } else {
                operands.append(word)
            }
        }
    }

    /// Returns the arguments with words before and after those of the command line.
    func completed(by options: [String], _ operands: [String]) throws(UsageError) -> Arguments {
        try Arguments(options + words + operands, self.options, among: commands)
    }

    /// True if an option was given.
    func has(_ option: some CommandOption) -> Bool { values[option.name] != nil }

    /// Returns the options as they were given, to repeat them in a command to type.
    func words(of options: any CommandOption...) -> [String] {
        options.flatMap { option in
            values[option.name, default: []].map { "--\(option.name)" + (option.value == nil ? "" : "=\($0)") }
        }
    }

    /// The value of an option.
    ///
    /// - Throws: ``UsageError`` if the text on the command line is none.
    subscript<Value>(_ option: Option<Value>) -> Value {
        get throws { try option.parse(values[option.name, default: []]) }
    }

    private mutating func readLong(_ word: Substring, _ rest: inout ArraySlice<String>) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.first.map(String.init) ?? ""
        guard let option = options.first(where: { $0.name == name }) else {
            throw unknown("--", name)
        }
        try store(option, parts.count > 1 ? String(parts[1]) : nil, &rest)
    }

    private mutating func readShort(_ word: Substring, _ rest: inout ArraySlice<String>) throws(UsageError) {
        var letters = word
        while let letter = letters.popFirst() {
            guard let option = options.first(where: { $0.short == letter }) else {
                // A word with several letters may be a long option with one hyphen, as in `-strict`.
                throw unknown("-", word.count > 1 ? String(word.prefix { $0 != "=" }) : String(letter))
            }
            let attached = option.value == nil || letters.isEmpty ? nil : String(letters)
            try store(option, attached, &rest)
            if attached != nil { return }
        }
    }

    private func unknown(_ hyphens: String, _ name: String) -> UsageError {
        let meant = UnknownWord.remedy(forOption: name, options, among: commands).map { "; \($0)" } ?? ""
        return UsageError("there is no option \(quoted(hyphens + name))\(meant)")
    }

    private mutating func store(
        _ option: some CommandOption,
        _ attached: String?,
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        guard let kind = option.value else {
            guard attached == nil else { throw UsageError("--\(option.name) takes no value") }
            values[option.name, default: []].append("")
            return
        }
        guard let value = attached ?? rest.popFirst() else { throw UsageError("--\(option.name) needs a \(kind)") }
        values[option.name, default: []].append(value)
    }
}

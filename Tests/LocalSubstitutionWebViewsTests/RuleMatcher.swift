@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

/// Matches filters as browser engines do, and refuses filters that two engines might interpret differently.
///
/// A `urlFilter` begins with `|`, may end with `|`, and contains no other special character. A `regexFilter` uses only
/// the syntax that ``URLFilter`` documents.
struct RuleMatcher {
    enum Problem: Error {
        case urlFilter(String)
        case regularExpression(String)
        case disagreement(String, url: String)
    }

    private enum Item {
        case literal(UInt8)
        /// Any number of characters of a query parameter's value.
        case value
    }

    private let filter: URLFilter
    private let literal: (text: [UInt8], isOpen: Bool)?
    private let items: [Item]
    private let isAnchored: Bool

    init(_ filter: URLFilter) throws {
        self.filter = filter
        literal = try filter.pattern.map(Self.literal)
        (items, isAnchored) = try Self.items(of: Array(filter.regularExpression.utf8))
    }

    func matches(_ url: String) throws -> Bool {
        let bytes = Array(url.utf8)
        let result = matches(bytes, 0, 0)
        if let literal, result != (literal.isOpen ? url.hasPrefix(filter.start) : bytes == literal.text) {
            throw Problem.disagreement(filter.regularExpression, url: url)
        }
        return result
    }

    private static func literal(_ pattern: String) throws -> (text: [UInt8], isOpen: Bool) {
        var text = Array(pattern.utf8)
        guard text.first == UInt8(ascii: "|") else { throw Problem.urlFilter(pattern) }
        text.removeFirst()
        let isOpen = text.last != UInt8(ascii: "|")
        if !isOpen { text.removeLast() }
        guard text.allSatisfy({ (0x21...0x7E).contains($0) && !"|*^".utf8.contains($0) }) else {
            throw Problem.urlFilter(pattern)
        }
        return (text, isOpen)
    }

    /// The only character class used in filters.
    private static let value = Array(#"[!"$%'-~]*"#.utf8)

    private static func items(of expression: [UInt8]) throws -> ([Item], isAnchored: Bool) {
        let problem = Problem.regularExpression(String(decoding: expression, as: UTF8.self))
        guard expression.first == UInt8(ascii: "^") else { throw problem }
        var items: [Item] = []
        var index = 1
        while index < expression.count {
            let byte = expression[index]
            let rest = expression.count - index - 1
            switch byte {
            case UInt8(ascii: "\\"):
                guard rest > 0, !expression[index + 1].isASCIILetter, !expression[index + 1].isASCIIDigit else {
                    throw problem
                }
                items.append(.literal(expression[index + 1]))
                index += 1
            case UInt8(ascii: "["):
                guard expression[index...].starts(with: Self.value) else { throw problem }
                items.append(.value)
                index += Self.value.count - 1
            case UInt8(ascii: "."):
                guard rest == 1, expression[index + 1] == UInt8(ascii: "*") else { throw problem }
                return (items, false)
            case UInt8(ascii: "$"):
                guard rest == 0 else { throw problem }
                return (items, true)
            case UInt8(ascii: "+"), UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "("), UInt8(ascii: ")"),
                UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "^"), UInt8(ascii: "|"):
                throw problem
            default:
                guard byte > 0x20, byte < 0x7F else { throw problem }
                items.append(.literal(byte))
            }
            index += 1
        }
        throw problem
    }

    private func matches(_ url: [UInt8], _ start: Int, _ first: Int) -> Bool {
        var (start, first) = (start, first)
        while first < items.count {
            switch items[first] {
            case .literal(let byte):
                guard start < url.count, url[start] == byte else { return false }
                start += 1
            case .value:
                while true {
                    if matches(url, start, first + 1) { return true }
                    guard start < url.count, url[start] > 0x20, url[start] < 0x7F, url[start] != UInt8(ascii: "#"),
                        url[start] != UInt8(ascii: "&")
                    else { return false }
                    start += 1
                }
            }
            first += 1
        }
        return !isAnchored || start == url.count
    }
}

import TestSupport
import Testing

@testable import LocalSubstitutionCache

@Suite("Query rules")
struct QueryRuleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let ignored: [String]
        let key: String?
        let request: String?
        let matches: Bool
        var testDescription: String { "\(ignored) \(key ?? "nil") \(request ?? "nil")" }
    }

    static let rows = [
        Row(ignored: ["v"], key: nil, request: nil, matches: true),
        Row(ignored: ["v"], key: nil, request: "v=1", matches: true),
        Row(ignored: ["v"], key: nil, request: "v=1&v=2", matches: true),
        Row(ignored: ["v"], key: nil, request: "", matches: true),
        Row(ignored: ["v"], key: nil, request: "v=1&", matches: true),
        Row(ignored: ["v", "_"], key: nil, request: "v=1&&_=2", matches: true),
        Row(ignored: ["v"], key: "a&&b&", request: "a&v=1&b", matches: true),
        Row(ignored: ["v"], key: nil, request: "=1", matches: false),
        Row(ignored: ["v"], key: nil, request: "w=1", matches: false),
        Row(ignored: ["v"], key: nil, request: "V=1", matches: false),
        Row(ignored: ["v"], key: nil, request: "vv=1", matches: false),
        Row(ignored: ["v"], key: "a=1", request: "a=1&v=1", matches: true),
        Row(ignored: ["v"], key: "a=1", request: "a=2&v=1", matches: false),
        Row(ignored: ["v"], key: "a=1&b=2", request: "b=2&a=1", matches: false),
        Row(ignored: ["v"], key: "a=1&v=7", request: "a=1", matches: true),
        Row(ignored: ["utm_*"], key: nil, request: "utm_source=x&utm_medium=y", matches: true),
        Row(ignored: ["utm_*"], key: nil, request: "utm=x", matches: false),
        Row(ignored: ["*"], key: nil, request: "a=1&b", matches: true),
        Row(ignored: ["gr\u{F6}\u{DF}e"], key: nil, request: "gr%C3%B6%C3%9Fe=1", matches: true),
        Row(ignored: ["%76"], key: nil, request: "v=1", matches: true),
        Row(ignored: [], key: "a", request: "b", matches: false),
    ]

    @Test("The names of a list are ignored in both queries", arguments: rows)
    func list(row: Row) throws {
        let rule = QueryRule.ignoring(anyOf: try row.ignored.map(ParameterName.init))
        #expect(rule.matches(row.request, key: row.key) == row.matches)
    }

    /// Returns the expected result, found by a scan of the whole list.
    private func isIgnored(_ name: String, by list: [String]) -> Bool {
        list.contains { $0.hasSuffix("*") ? name.hasPrefix($0.dropLast()) : name == $0 }
    }

    @Test("A list ignores the same parameters in whatever order, and with or without names that another one covers")
    func lists() throws {
        var numbers = Numbers(state: 1)
        func word() -> String {
            String(
                (0..<Int.random(in: 0...4, using: &numbers)).map { _ in "ab-".randomElement(using: &numbers) ?? "a" }
            )
        }
        for _ in 0..<2000 {
            let list = (0..<Int.random(in: 0...8, using: &numbers)).map { _ in
                word() + (Bool.random(using: &numbers) ? "*" : "")
            }.filter { !$0.isEmpty }
            let rule = QueryRule.ignoring(anyOf: try list.map(ParameterName.init))
            for _ in 0..<20 {
                let name = word()
                #expect(
                    rule.matches("\(name)=1&z=1", key: "z=1") == isIgnored(name, by: list),
                    "\(name) in \(list)"
                )
            }
            #expect(QueryRule.ignoring(anyOf: try list.shuffled(using: &numbers).map(ParameterName.init)) == rule)
            let covered = list.filter { $0.hasSuffix("*") }.map { String($0.dropLast()) + word() }
            #expect(QueryRule.ignoring(anyOf: try (covered + list).map(ParameterName.init)) == rule)
        }
    }

    @Test("An exact rule distinguishes an empty query from none")
    func exact() {
        #expect(QueryRule.exact.matches(nil, key: nil))
        #expect(!QueryRule.exact.matches("", key: nil))
        #expect(!QueryRule.exact.matches("a&", key: "a"))
        #expect(QueryRule.exact.matches("a", key: "a"))
    }

    @Test("`true` matches any query, and none", arguments: [nil, "", "a=1"])
    func any(query: String?) {
        #expect(QueryRule.any.matches(query, key: "b"))
    }
}

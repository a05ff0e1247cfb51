import TestSupport
import Testing

@testable import LocalSubstitutionCache

@Suite("Query rules")
struct QueryRuleTests {
    static let rows: [([String], String?, String?, Bool)] = [
        (["v"], nil, nil, true), (["v"], nil, "v=1", true), (["v"], nil, "v=1&v=2", true), (["v"], nil, "", true),
        (["v"], nil, "v=1&", true), (["v", "_"], nil, "v=1&&_=2", true), (["v"], "a&&b&", "a&v=1&b", true),
        (["v"], nil, "=1", false), (["v"], nil, "w=1", false), (["v"], nil, "V=1", false), (["v"], nil, "vv=1", false),
        (["v"], "a=1", "a=1&v=1", true), (["v"], "a=1", "a=2&v=1", false), (["v"], "a=1&b=2", "b=2&a=1", false),
        (["v"], "a=1&v=7", "a=1", true), (["utm_*"], nil, "utm_source=x&utm_medium=y", true),
        (["utm_*"], nil, "utm=x", false), (["*"], nil, "a=1&b", true), (["%76"], nil, "v=1", true),
        (["gr\u{F6}\u{DF}e"], nil, "gr%C3%B6%C3%9Fe=1", true), ([], "a", "b", false),
    ]

    @Test("The names of a list are ignored in both queries", arguments: rows)
    func list(ignored: [String], key: String?, request: String?, matches: Bool) throws {
        let rule = QueryRule.ignoring(anyOf: try ignored.map(ParameterName.init))
        #expect(rule.matches(request, key: key) == matches)
    }

    @Test("A list ignores the same parameters in whatever order, and with or without names that another one covers")
    func lists() throws {
        var numbers = Numbers(state: 1)
        func word() -> String {
            let count = Int.random(in: 0...4, using: &numbers)
            return String((0..<count).map { _ in "ab-".randomElement(using: &numbers) ?? "a" })
        }
        for _ in 0..<2000 {
            let list = (0..<Int.random(in: 0...8, using: &numbers)).map { _ in
                word() + (Bool.random(using: &numbers) ? "*" : "")
            }.filter { !$0.isEmpty }
            let rule = QueryRule.ignoring(anyOf: try list.map(ParameterName.init))
            for _ in 0..<20 {
                let name = word()
                let isIgnored = list.contains { $0.hasSuffix("*") ? name.hasPrefix($0.dropLast()) : name == $0 }
                #expect(rule.matches("\(name)=1&z=1", key: "z=1") == isIgnored, "\(name) in \(list)")
            }
            #expect(QueryRule.ignoring(anyOf: try list.shuffled(using: &numbers).map(ParameterName.init)) == rule)
            let covered = list.filter { $0.hasSuffix("*") }.map { String($0.dropLast()) + word() }
            #expect(QueryRule.ignoring(anyOf: try (covered + list).map(ParameterName.init)) == rule)
        }
    }

    @Test("An exact rule distinguishes an empty query from none, and `true` matches both")
    func exact() {
        let queries = [(nil, nil), ("", nil), ("a&", "a"), ("a", "a")] as [(String?, String?)]
        #expect(queries.map { QueryRule.exact.matches($0, key: $1) } == [true, false, false, true])
        for query in [nil, "", "a=1"] { #expect(QueryRule.any.matches(query, key: "b")) }
    }
}

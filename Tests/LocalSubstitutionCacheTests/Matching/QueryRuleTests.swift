import Testing

@testable import LocalSubstitutionCache

@Suite("Query rules", .timeLimit(.minutes(1)))
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
        Row(ignored: ["v"], key: nil, request: "v", matches: true),
        Row(ignored: ["v"], key: nil, request: "v=1&v=2", matches: true),
        Row(ignored: ["v"], key: nil, request: "", matches: false),
        Row(ignored: ["v"], key: nil, request: "w=1", matches: false),
        Row(ignored: ["v"], key: nil, request: "V=1", matches: false),
        Row(ignored: ["v"], key: nil, request: "vv=1", matches: false),
        Row(ignored: ["v"], key: "a=1", request: "v=1&a=1", matches: true),
        Row(ignored: ["v"], key: "a=1", request: "a=1&v=1", matches: true),
        Row(ignored: ["v"], key: "a=1", request: "a=2&v=1", matches: false),
        Row(ignored: ["v"], key: "a=1&b=2", request: "b=2&a=1", matches: false),
        Row(ignored: ["v"], key: "a=1&v=7", request: "a=1", matches: true),
        Row(ignored: ["utm_*"], key: nil, request: "utm_source=x&utm_medium=y", matches: true),
        Row(ignored: ["utm_*"], key: nil, request: "utm=x", matches: false),
        Row(ignored: ["*"], key: nil, request: "a=1&b", matches: true),
        Row(ignored: ["gr\u{F6}\u{DF}e"], key: nil, request: "gr%C3%B6%C3%9Fe=1", matches: true),
        Row(ignored: ["filter[a]"], key: nil, request: "filter%5Ba%5D=1", matches: true),
        Row(ignored: ["%76"], key: nil, request: "v=1", matches: true),
        Row(ignored: [], key: "a", request: "a", matches: true),
        Row(ignored: [], key: "a", request: "b", matches: false),
    ]

    @Test("A list of names is left out of both queries", arguments: rows)
    func list(row: Row) throws {
        let rule = QueryRule.ignoring(try row.ignored.map(QueryRule.ParameterName.init))
        #expect(rule.matches(row.request, key: row.key) == row.matches)
    }

    @Test("An exact rule tells an empty query from none")
    func exact() {
        #expect(QueryRule.exact.matches(nil, key: nil))
        #expect(!QueryRule.exact.matches("", key: nil))
        #expect(QueryRule.exact.matches("a", key: "a"))
    }

    @Test("Any query, and none, matches `true`", arguments: [nil, "", "a=1"])
    func any(query: String?) {
        #expect(QueryRule.any.matches(query, key: "b"))
    }
}

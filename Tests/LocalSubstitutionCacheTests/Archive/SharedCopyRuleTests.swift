import SubstitutionRules
import Testing

@Suite("What may be given to somebody else")
struct SharedCopyRuleTests {
    private func objection(
        _ method: String = "GET",
        _ fields: KeyValuePairs<String, String> = [:],
        status: Int? = 200,
        _ response: [String: String] = [:]
    ) -> SharedCopyRule {
        var rule = SharedCopyRule()
        rule.ask(method, fields.map { (name: $0.key, value: $0.value) })
        rule.receive(status) { name in response.first { $0.key.lowercased() == name.lowercased() }?.value }
        return rule
    }

    @Test("A plain response to a plain request may be given away")
    func plain() {
        let fields: KeyValuePairs = [
            "Accept": "*/*", "accept-language": "de", "User-Agent": "x", "If-None-Match": "\"a\"",
            "Sec-Fetch-Mode": "cors", "Cache-Control": "no-cache", "Range": "bytes=0-",
        ]
        #expect(objection("GET", fields, ["Cache-Control": "no-cache, max-age=0", "Vary": "*"]).objection == nil)
        // A redirect, whose own response is not given away.
        #expect(objection(status: nil).objection == nil)
    }

    @Test("What speaks against a request is named, and says nothing about the response")
    func requests() {
        #expect(objection("HEAD").ofRequest == .method("HEAD"))
        #expect(objection("GET", ["Cookie": ""]).ofRequest == .field("Cookie"))
        for name in ["Authorization", "X-User-Id", "From", "x-random-4711", "Iffy", "Proxy-Authorization"] {
            #expect(objection("GET", ["Accept": "*/*", name: ""]).ofRequest == .field(name))
            #expect(objection("GET", [name: "a"]).ofResponse == nil)
        }
        #expect(objection("GET", ["Cache-Control": "no-store"]).ofRequest == .field("Cache-Control"))
        var rule = objection()
        rule.challenge()
        #expect(rule.objection == .challenge)
    }

    @Test("What speaks against a response is named")
    func responses() {
        for status in [201, 206, 304, 404] { #expect(objection(status: status).ofResponse == .status(status)) }
        #expect(objection("GET", [:], ["set-cookie": "a=b"]).objection == .field("Set-Cookie"))
        for value in ["private", "no-store", "max-age=9, No-Store", "private=\"x-a\"", "private=\"a"] {
            #expect(objection("GET", [:], ["Cache-Control": value]).objection == .field("Cache-Control"))
        }
    }

    @Test("In a chain of redirects, each request and each response counts, and the first objection stays")
    func chain() {
        var rule = objection(status: nil, ["Set-Cookie": "a=b"])
        rule.ask("GET", [(name: "Authorization", value: "")])
        rule.receive(404) { _ in nil }
        #expect(rule.ofResponse == .field("Set-Cookie"))
        #expect(rule.ofRequest == .field("Authorization"))
        #expect(rule.objection == rule.ofRequest)
    }
}

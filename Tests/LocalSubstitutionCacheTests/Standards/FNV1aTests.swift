import Foundation
import SubstitutionRules
import Testing

@Suite("FNV-1a")
struct FNV1aTests {
    @Test(
        "The hashes are those of RFC 9923's test vectors",
        arguments: [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")]
    )
    func vectors(text: String, hash: String) {
        var fnv = FNV1a()
        fnv.combine(Data(text.utf8))
        #expect(fnv.description == hash)
    }
}

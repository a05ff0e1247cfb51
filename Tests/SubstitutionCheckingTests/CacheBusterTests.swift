import SubstitutionRules
import TestSupport
import Testing

@Suite("Cache-busters")
struct CacheBusterTests {
    @Test("A version in a query is recognised in linear time")
    func versions() {
        let growth = Growth.whenEightfold(2000) { count in
            #expect(!CacheBuster.isOne(.init(text: Substring("v=1" + String(repeating: "_", count: count) + "!"))))
            #expect(CacheBuster.isOne(.init(text: Substring("v=1" + String(repeating: "_a", count: count) + ".b"))))
        }
        #expect(growth < Growth.limit)
    }
}

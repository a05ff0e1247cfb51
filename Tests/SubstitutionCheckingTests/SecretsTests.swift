import LocalSubstitutionCache
import SubstitutionChecking
import SubstitutionStandards
import Testing

@Suite("Excerpts of a text with passwords")
struct SecretsTests {
    @Test("Any excerpt hides the secrets, even if it begins or ends inside one")
    func parts() {
        let text = Array("a https://user:s3cr3t@h/ //u@h b".utf8)
        let secrets = UserInformation.Secrets(in: text)
        let places = UserInformation.occurrences(in: text).map(\.secret)
        #expect(places.count == 2)
        for start in text.indices {
            for end in start..<text.count {
                var expected: [UInt8] = []
                for index in start..<end {
                    if let place = places.first(where: { $0.contains(index) }) {
                        if index == max(start, place.lowerBound) { expected += "…".utf8 }
                    } else {
                        expected.append(text[index])
                    }
                }
                #expect(secrets.hidden(in: start..<end, of: text) == expected)
            }
            #expect(secrets.range(at: start) == places.first { $0.contains(start) })
        }
    }
}

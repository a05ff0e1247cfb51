import Foundation
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

/// Tests of `Resources/Substitutions`, the folder that the Demo shows; it is bundled as in an app.
@Suite("The sample manifest")
struct SampleManifestTests {
    @Test("A target of a Swift package finds it with bundle: .module")
    func bundle() throws {
        let cache = try SubstitutionCache(bundle: .module)
        let request = URLRequest(url: try #require(URL(string: "http://localhost:0/css/site.css?v=12")))
        #expect(cache.cachedResponse(for: request)?.response.mimeType == "text/css")
        #expect(cache.substitutions.map(\.path).contains("img/icons/ferry.svg"))
    }
}

import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

extension Browser {
    /// The maximum number of images that are loaded in addition, for each page.
    private static let maximumCandidates = 500
    /// The number of images that are loaded at a time.
    private static let groupSize = 50

    /// Loads the images that the page names for other screens than this one, and has not loaded.
    ///
    /// They are the candidates of `srcset` and `imagesrcset` (HTML §4.8.4.2.1) and of `image-set()` (CSS Images 4 §2.4)
    /// in the page and in frames of its origin.
    func loadCandidates() async throws {
        let deadline = DispatchTime.now() + settings.limit
        let all = (try? await value(of: "(\(Self.candidates))()", [String].self)) ?? []
        let missing = all.filter { !traffic.hasBegun($0) }
        var rest = missing.prefix(Self.maximumCandidates)
        while !rest.isEmpty, .now() < deadline {
            let list = String(decoding: try JSONEncoder().encode(Array(rest.prefix(Self.groupSize))), as: UTF8.self)
            let seconds = max(0.1, deadline.seconds(after: .now()))
            // An image that fails is recorded as such.
            guard (try? await value(of: "(\(Self.images))(\(list))", Bool.self, within: seconds)) == true else { break }
            rest = rest.dropFirst(Self.groupSize)
        }
        if let failure { throw failure }
        let left = missing.count - min(missing.count, Self.maximumCandidates) + rest.count
        guard left > 0 else { return }
        let reason = rest.isEmpty ? "more than \(Self.maximumCandidates)" : "the time was over"
        let sentence = "\(counted(left, "image")) for other screens \(left == 1 ? "was" : "were") not loaded: \(reason)"
        incompleteness = incompleteness ?? sentence
        report(sentence, .page)
    }

    /// The script that lists the candidates as absolute URLs, each once.
    private static let candidates = String(resource: PackageResources.candidates_js)

    /// The script that loads images without showing them.
    private static let images = String(resource: PackageResources.images_js)
}

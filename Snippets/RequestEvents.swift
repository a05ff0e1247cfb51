// Prints what answers each load of the app.

// snippet.hide
import Foundation
import LocalSubstitutionCache

let cache = try SubstitutionCache(bundle: .main)

// snippet.show
cache.onRequest = { event in
    switch event {
    case .hit(let url, let substitution): print("\(url): \(substitution.file)")
    case .miss(let url): print("\(url): no file, at least not before the network")
    case .fallback(let url, let substitution): print("\(url): \(substitution?.file ?? "archive"), after the network")
    }
}

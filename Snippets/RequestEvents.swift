// Prints what answers each load of the app.

// snippet.hide
import Foundation
import LocalSubstitutionCache

let cache = try SubstitutionCache(bundle: .main)

// snippet.show
let events = cache.events
Task {
    // hit https://example.com/img/logo.png → img/logo.png
    for await event in events { print(event) }
}

// Replays the last good copy of a page when there is no connection.

// snippet.hide
import Foundation
import LocalSubstitutionArchive
import LocalSubstitutionCache

func install(_ cache: SubstitutionCache, caches: URL) throws {
    // snippet.show
    let archive = try OfflineArchive(
        directory: caches.appendingPathComponent("Offline"),
        capacity: 50_000_000,
        hosts: ["example.com"]
    )
    cache.install(archive: archive)
    // snippet.hide
}

_ = install

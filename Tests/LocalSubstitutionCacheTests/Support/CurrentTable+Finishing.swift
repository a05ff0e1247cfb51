import Foundation

@testable import LocalSubstitutionCache

extension CurrentTable {
    /// Returns once the background has built every response, and holds no earlier table.
    func finishPreparation() {
        let queue = Preparation.shared.queue
        while !isPrepared { queue.sync { _ = usleep(1000) } }
        // A step that began before a reload holds the previous table until the step ends.
        queue.sync {}
    }
}

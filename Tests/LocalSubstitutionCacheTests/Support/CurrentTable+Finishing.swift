import Foundation

@testable import LocalSubstitutionCache

extension CurrentTable {
    /// Returns once the background queue has built every response and has released all earlier tables.
    func finishPreparation() {
        let queue = Preparation.shared.queue
        while !isPrepared { queue.sync { _ = usleep(1000) } }
        // A step that began before a reload holds the previous table until the step ends.
        queue.sync {}
    }
}

import Foundation

@testable import LocalSubstitutionCache

extension CurrentTable {
    /// Returns once the background queue has built every response and has released all earlier tables.
    func finishPreparation() { Preparation.shared.queue.sync {} }
}

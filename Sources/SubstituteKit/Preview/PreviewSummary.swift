import LocalSubstitutionCache
import SubstituteCheckKit

/// The sentences about the files that an app uses.
///
/// An app uses all files of a manifest, or none while the manifest has an error.
struct PreviewSummary {
    private let errors: Int
    private let inventory: Inventory

    init(_ check: ManifestCheck) { (errors, inventory) = (check.errors.count, check.inventory) }

    var heading: String { errors == 0 ? "What ships" : "Nothing ships" }

    /// The sentences below the heading.
    var sentences: [String] {
        if errors == 0 { return [inventory.description] }
        let refusal = "\(counted(errors, "error")), and an app refuses the whole manifest."
        if inventory.urls == 0 { return [refusal] }
        // The numbers are a minimum, because the entries with errors may name more files.
        let fixed = "Once \(errors == 1 ? "it is" : "they are") fixed, at least this ships: \(inventory.description)"
        return [refusal, fixed]
    }

    /// The summary for terminals, as a sentence without a full stop.
    var description: String { (errors == 0 ? "" : "nothing ships: ") + sentences.joined(separator: " ") }

    /// The summary as the rest of a sentence that begins with "`page` shows".
    var shown: String { errors == 0 ? description : "that \(description)" }
}

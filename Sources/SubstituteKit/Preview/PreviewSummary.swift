import LocalSubstitutionCache
import SubstituteCheckKit

/// The sentences about the files that an app uses.
///
/// An app uses all files of a manifest, or none while the manifest has an error.
struct PreviewSummary {
    private let errors: Int
    private let warnings: Int
    private let inventory: Inventory

    init(_ check: ManifestCheck) {
        errors = check.errors.count
        warnings = check.issues.count - errors
        inventory = check.inventory
    }

    var heading: String { errors == 0 ? "What ships" : "Nothing ships" }

    /// The summary for terminals, as a sentence without a full stop.
    var description: String {
        if errors == 0 { return inventory.description }
        return "nothing ships: \(counted(errors, "error")), \(refusal)" + (expectation.map { " \($0)" } ?? "")
    }

    /// The summary as the rest of a sentence that begins with "`page` shows".
    var shown: String { errors == 0 ? description : "that \(description)" }

    /// The paragraphs under the heading of the page.
    var html: String {
        let warned = warnings == 0 ? "" : " · <strong class=\"warning\">\(counted(warnings, "warning"))</strong>"
        if errors == 0 { return "<p class=\"totals\">\(HTML.escaped(inventory.description))\(warned)</p>" }
        let refused =
            "<p class=\"totals\"><strong class=\"error\">\(counted(errors, "error"))</strong>, \(refusal)\(warned)</p>"
        return refused + (expectation.map { "\n<p>\(HTML.escaped($0))</p>" } ?? "")
    }

    private var refusal: String { "and an app refuses the whole manifest." }

    /// A sentence about the files that an app uses once the errors are fixed; nil if no correct entry names a file.
    ///
    /// The numbers are a minimum, because the entries with errors may name more files.
    private var expectation: String? {
        if inventory.urls == 0 { return nil }
        return "Once \(errors == 1 ? "it is" : "they are") fixed, at least this ships: \(inventory.description)"
    }
}

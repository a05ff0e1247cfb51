import LocalSubstitutionCache
import SwiftUI

/// The folder that the app brings after its release, as if the app had downloaded it.
struct NewerFolder {
    let cache: SubstitutionCache

    /// The folder's place; a launch reads it, and its files answer if its `$version` is higher than the bundle's.
    static let place = URL.applicationSupportDirectory.appending(path: "Substitutions")

    /// Adopts a folder in which the picture of the tide is that of the ferry.
    func adopt() throws {
        let incoming = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        let resources = Bundle.module.resourceURL ?? Bundle.module.bundleURL
        try FileManager.default.copyItem(at: resources.appending(path: "Substitutions"), to: incoming)
        try Data(
            """
            {
              "$version": \(cache.manifestVersion + 1),
              "//pictures.invalid/img/": "img/",
              "//pictures.invalid/img/tide.png": "img/ferry.png",
              "https://pictures.invalid/": "page.html"
            }
            """.utf8
        )
        .write(to: incoming.appending(path: "manifest.json"))
        try cache.adopt(incoming)
    }

    /// Removes the folder, so that the bundle answers.
    func remove() throws {
        try FileManager.default.removeItem(at: Self.place)
        try cache.reload()
    }
}

/// Adopts and removes a newer folder.
struct NewerPage: View {
    let folder: NewerFolder
    @State private var message = ""

    var body: some View {
        List {
            Text("Version \(folder.cache.manifestVersion) answers. \(message)")
            Button("Adopt a folder in which the tide is a ferry") { report(folder.adopt) }
            Button("Remove it") { report(folder.remove) }
        }
    }

    private func report(_ change: () throws -> Void) {
        do {
            try change()
            message = "Go back, and load the pictures again."
        } catch {
            message = "\(error)"
        }
    }
}

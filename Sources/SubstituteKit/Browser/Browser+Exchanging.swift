import Foundation

extension Browser {
    /// Reloads stylesheets and images, while the page itself stays loaded.
    ///
    /// - Parameter urls: The URLs of the stylesheets and images, without fragments.
    /// - Returns: True if the document itself uses each of the URLs as a stylesheet or an image. If one of the URLs is
    ///   used as a background or in a frame, the result is false.
    /// - Throws: ``ToolError`` if the page does not answer.
    func loadAgain(_ urls: Set<String>) async throws -> Bool {
        // A document keeps its loaded resources in memory. The cache is already disabled, but disabling it again
        // discards these resources.
        for session in documents {
            devTools.post("Network.setCacheDisabled", ["cacheDisabled": true], in: session)
        }
        let list = String(decoding: try JSONEncoder().encode(urls.sorted()), as: UTF8.self)
        return try await value(of: "(\(Self.exchange))(\(list))", Bool.self)
    }

    /// The script that reloads stylesheets and images.
    ///
    /// A new link element starts a load. Setting the address of an image also starts one, even if the address is the
    /// same (HTML §4.8.4.3.5).
    private static let exchange = String(resource: PackageResources.exchange_js)

    /// Loads the page again.
    func reload() async throws { try await devTools.run("Page.reload", ["ignoreCache": true], in: page?.session) }
}

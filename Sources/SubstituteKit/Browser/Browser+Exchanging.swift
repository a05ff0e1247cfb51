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
    private static let exchange = """
        urls => {
          const found = new Set();
          const isMeant = address => {
            const url = (address || "").split("#")[0];
            if (!urls.includes(url)) return false;
            found.add(url);
            return true;
          };
          const holds = sheet => {
            let isFound = isMeant(sheet.href);
            // Reading the rules of a cross-origin stylesheet throws.
            try {
              for (const rule of sheet.cssRules) if (rule.styleSheet && holds(rule.styleSheet)) isFound = true;
            } catch {}
            return isFound;
          };
          for (const element of document.querySelectorAll("link, style")) {
            if (!element.sheet || !holds(element.sheet)) continue;
            // If the file was also saved shortly before, the earlier replacement may still be loading.
            if (element.nextElementSibling?.matches("[data-substitute]")) element.nextElementSibling.remove();
            const fresh = element.cloneNode(true);
            fresh.dataset.substitute = "";
            // Keep the old stylesheet until the new one has loaded, so that the page is never unstyled.
            for (const end of ["load", "error"]) fresh.addEventListener(end, () => element.remove(), { once: true });
            element.after(fresh);
          }
          for (const image of document.images) {
            if (!isMeant(image.currentSrc)) continue;
            if (image.srcset) image.srcset = image.srcset; else image.src = image.src;
          }
          return urls.every(url => found.has(url));
        }
        """

    /// Loads the page again.
    func reload() async throws { try await devTools.run("Page.reload", ["ignoreCache": true], in: page?.session) }
}

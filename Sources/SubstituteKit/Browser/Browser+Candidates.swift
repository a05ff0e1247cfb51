import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

extension Browser {
    /// The maximum number of images that are loaded in addition, for each page.
    private static let maximumCandidates = 500
    /// The number of images that are loaded at a time.
    private static let groupSize = 50

    /// Loads the images that the page names for other screens than this one, and has not loaded.
    ///
    /// They are the candidates of `srcset` and `imagesrcset` (HTML §4.8.4.2.1) and of `image-set()` (CSS Images 4 §2.4)
    /// in the page and in frames of its origin.
    func loadCandidates() async throws {
        let deadline = DispatchTime.now() + settings.limit
        let all = (try? await value(of: "(\(Self.candidates))()", [String].self)) ?? []
        let missing = all.filter { !traffic.hasBegun($0) }
        var rest = missing.prefix(Self.maximumCandidates)
        while !rest.isEmpty, .now() < deadline {
            let list = String(decoding: try JSONEncoder().encode(Array(rest.prefix(Self.groupSize))), as: UTF8.self)
            let seconds = max(0.1, deadline.seconds(after: .now()))
            // An image that fails is recorded as such.
            guard (try? await value(of: "(\(Self.images))(\(list))", Bool.self, within: seconds)) == true else { break }
            rest = rest.dropFirst(Self.groupSize)
        }
        if let failure { throw failure }
        let left = missing.count - min(missing.count, Self.maximumCandidates) + rest.count
        guard left > 0 else { return }
        let reason = rest.isEmpty ? "more than \(Self.maximumCandidates)" : "the time was over"
        let sentence = "\(counted(left, "image")) for other screens \(left == 1 ? "was" : "were") not loaded: \(reason)"
        incompleteness = incompleteness ?? sentence
        report(sentence, .page)
    }

    /// The script that lists the candidates as absolute URLs, each once.
    private static let candidates = """
        () => {
          const urls = new Set();
          const add = (text, base) => {
            try {
              const url = new URL(text, base);
              url.hash = "";
              if (/^https?:$/.test(url.protocol)) urls.add(url.href);
            } catch {}
          };
          const addSet = (text, base) => {
            let rest = text || "";
            while ((rest = rest.replace(/^[\\s,]+/, ""))) {
              const url = rest.match(/^\\S+/)[0];
              rest = rest.slice(url.length);
              // Without a comma at its end, descriptors follow, in which commas stand in parentheses only.
              if (!url.endsWith(",")) rest = rest.replace(/^(?:[^(,]|\\([^)]*\\))*/, "");
              add(url.replace(/,+$/, ""), base);
            }
          };
          const addStyle = (text, base) => {
            for (const [, set] of text.matchAll(/image-set\\(((?:[^()"]|"(?:[^"\\\\]|\\\\.)*"|\\([^()]*\\))*)\\)/g)) {
              const strings = set.replace(/type\\([^)]*\\)/g, "").matchAll(/"((?:[^"\\\\]|\\\\.)*)"/g);
              for (const [, string] of strings) add(string.replace(/\\\\(.)/g, "$1"), base);
            }
          };
          const addSheet = (sheet, base) => {
            // Reading the rules of a cross-origin stylesheet throws.
            try {
              for (const rule of sheet.cssRules) {
                addStyle(rule.cssText, sheet.href || base);
                if (rule.styleSheet) addSheet(rule.styleSheet, base);
              }
            } catch {}
          };
          const addDocument = page => {
            const base = page.baseURI;
            for (const element of page.querySelectorAll("img, source, link")) {
              const set = element.srcset || element.imageSrcset;
              addSet(set, base);
              const isChoice = set || element.parentElement?.localName === "picture";
              const source = element.localName === "img" && element.getAttribute("src");
              if (isChoice && source) add(source, base);
            }
            for (const sheet of [...page.styleSheets, ...page.adoptedStyleSheets]) addSheet(sheet, base);
            for (const element of page.querySelectorAll("[style*=image-set]")) addStyle(element.style.cssText, base);
            for (const frame of page.querySelectorAll("iframe, frame")) {
              if (frame.contentDocument) addDocument(frame.contentDocument);
            }
          };
          addDocument(document);
          return [...urls];
        }
        """

    /// The script that loads images without showing them.
    private static let images = """
        async urls => {
          await Promise.all(urls.map(url => new Promise(resolve => {
            const image = new Image();
            image.onload = image.onerror = resolve;
            image.src = url;
          })));
          return true;
        }
        """
}

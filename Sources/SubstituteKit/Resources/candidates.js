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
    while ((rest = rest.replace(/^[\s,]+/, ""))) {
      const url = rest.match(/^\S+/)[0];
      rest = rest.slice(url.length);
      // Without a comma at its end, descriptors follow, in which commas stand in parentheses only.
      if (!url.endsWith(",")) rest = rest.replace(/^(?:[^(,]|\([^)]*\))*/, "");
      add(url.replace(/,+$/, ""), base);
    }
  };
  const addStyle = (text, base) => {
    for (const [, set] of text.matchAll(/image-set\(((?:[^()"]|"(?:[^"\\]|\\.)*"|\([^()]*\))*)\)/g)) {
      const strings = set.replace(/type\([^)]*\)/g, "").matchAll(/"((?:[^"\\]|\\.)*)"/g);
      for (const [, string] of strings) add(string.replace(/\\(.)/g, "$1"), base);
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

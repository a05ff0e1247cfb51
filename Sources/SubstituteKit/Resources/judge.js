async (url, kind) => {
  const bytes = await (await fetch(url)).arrayBuffer(), text = new TextDecoder().decode(bytes);
  const found = (code, words, line = 1, column = 1) => ({ code: "browser-" + code, words, line, column });
  const at = (code, words, index) => {
    const lines = text.slice(0, index).split("\n");
    return found(code, words, lines.length, lines.at(-1).length + 1);
  };
  const attempt = async (code, work) => {
    try { await work(); } catch (error) { return found(code, error.message || `${error}`); }
    return null;
  };
  const blobURL = parts => URL.createObjectURL(new Blob(parts, { type: kind }));
  if (kind.endsWith("xml")) {
    const page = new DOMParser().parseFromString(text, "application/xml"), root = page.documentElement;
    const error = page.querySelector("parsererror div")?.textContent;
    const place = error?.match(/line (\d+) at column (\d+): ([^\n]*)/);
    if (error) return found("xml", place?.[3] ?? error, +(place?.[1] ?? 1), +(place?.[2] ?? 1));
    if (kind !== "image/svg+xml") return null;
    if (root.localName !== "svg" || root.namespaceURI !== "http://www.w3.org/2000/svg") return found("svg", `<${root.nodeName}>`);
    const image = new Image();
    image.src = blobURL([bytes]);
    return attempt("picture", () => image.decode());
  }
  if (kind.startsWith("image/")) {
    if (!(await ImageDecoder.isTypeSupported(kind))) return null;
    // Browsers show a PNG without its last chunk, IEND, which a decoder wants.
    const end = kind === "image/png" ? [0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130] : [];
    return attempt("picture", async () => {
      const decoder = new ImageDecoder({ data: await new Blob([bytes, new Uint8Array(end)]).arrayBuffer(), type: kind });
      await decoder.tracks.ready;
      await decoder.completed;
      const count = decoder.tracks.selectedTrack.frameCount;
      for (let index = 0; index < count; index++) (await decoder.decode({ frameIndex: index })).image.close();
    });
  }
  if (/^font\/(?!collection)/.test(kind)) return attempt("font", () => new FontFace("judged", bytes).load());
  if (kind === "application/wasm") return attempt("program", () => WebAssembly.compile(bytes));
  if (kind === "text/vtt") {
    const element = document.body.appendChild(document.createElement("video")).appendChild(document.createElement("track"));
    element.track.mode = "hidden";
    await new Promise(done => { element.onload = element.onerror = done; element.src = blobURL([bytes]); });
    const count = text.split("-->").length - 1, kept = element.track.cues?.length ?? 0;
    return kept < count ? at("track", `${kept} of ${count}`, text.indexOf("-->")) : null;
  }
  if (kind === "text/javascript") {
    try { new Function(text); return null; } catch {}
    // A module whose first import fails is parsed, but never runs.
    const script = document.createElement("script");
    let mistake = null;
    window.onerror = (words, _, line, column, error) => {
      if (error instanceof SyntaxError) mistake ??= found("script", words.replace(/^Uncaught SyntaxError: /, ""), line - 1, column);
    };
    [script.type, script.src] = ["module", blobURL(['import "data:text/javascript,throw 0";\n', text])];
    await new Promise(done => { script.onload = script.onerror = done; document.head.append(script); });
    return mistake;
  }
  if (kind !== "text/css") return null;
  const rules = css => { const sheet = new CSSStyleSheet(); sheet.replaceSync(css); return [...sheet.cssRules]; };
  if (rules(text + "\njudged{}").at(-1)?.selectorText !== "judged") return at("style-end", "", text.length);
  const blank = part => part.replace(/[^\n]/g, " ");
  const plain = text.replace(/\/\*[^]*?\*\//g, blank).replace(/"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'/g, part => `"${blank(part.slice(2))}"`)
    .replace(/url\([^)"]*\)/g, part => `url(${blank(part.slice(5))})`);
  const blocks = [], dropped = [], kept = new Set();
  for (const { 1: part, 2: end, index } of plain.matchAll(/([^{};]*)([{};]|$)/g)) {
    const words = part.trim(), name = words.match(/^([$\w-]+)\s*:/)?.[1];
    // A browser may drop a part with a vendor prefix, and a value or a hack for old Internet Explorer.
    const isHack = /(^|[^\w-])-[a-z]+-|[*\\]|progid|alpha\(|expression\(/.test(words), top = blocks.at(-1) ?? "@";
    const key = `${blocks.length} ${blocks.join("{")} ${name}`;
    let isKept = !words || isHack;
    if (end === "{") {
      isKept ||= /^(--|from|to|[\d.]+%)/.test(words) || [`a{${words}{}}`, `@page{${words}{}}`].some(css => rules(css)[0].cssRules.length)
        || rules(words + "{}").length > 0;
      blocks.push(words);
    } else if (words.startsWith("@")) isKept ||= /^@(import|charset|namespace|layer)\b/.test(words);
    else if (!/^(@|--)/.test(top)) {
      const isKnown = name && (name.startsWith("$") || CSS.supports(name, "inherit"));
      isKept ||= name ? name.startsWith("--") || !isKnown || CSS.supports(name, text.slice(index + part.indexOf(":") + 1, index + part.replace(/!\s*important\s*$/, "").length)) : false;
      if (name && words && isKept) kept.add(key);
    } else isKept = true;
    if (!isKept) dropped.push({ key, index: index + part.search(/\S/), words: words.replace(/\s+/g, " ") });
    if (end === "}") blocks.pop();
  }
  const first = dropped.find(({ key }) => !kept.has(key));
  return first ? at("style", first.words.slice(0, 80), first.index) : null;
}

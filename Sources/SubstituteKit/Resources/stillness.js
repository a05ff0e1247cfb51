masks => {
  for (const mask of masks) {
    try { document.querySelector(mask); } catch { return mask || "(empty)"; }
  }
  for (const animation of document.getAnimations()) {
    try { animation.finish(); } catch { animation.cancel(); }
  }
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("*, *::before, *::after { transition: none !important; caret-color: transparent !important; "
    + "scroll-behavior: auto !important; } "
    + masks.map(mask => `${mask} { opacity: 0 !important; }`).join(" "));
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  return "";
}

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

// Chromium, Firefox and Safari all provide this API under the name chrome.
const rulesets = chrome.declarativeNetRequest;
const box = make("input", { type: "checkbox", id: "switch", disabled: "" });
const search = make("input", { type: "search", id: "search", placeholder: "Filter", "aria-label": "Filter", autocomplete: "off" });
const count = make("output");

function row(each) {
  const image = each.kind === "image" && make("img", { loading: "lazy", decoding: "async", alt: "", src: each.address });
  if (image) image.addEventListener("load", () => showTransparency(image), { once: true });
  const element = make("li", {},
    make("a", { href: each.address, target: "_blank" }, make("span.show", {}, image || each.type.split("/").pop().slice(0, 5))),
    make("div", {}, make("p.url", {}, breakable(each.url)),
      make("p", {}, breakable(each.file), ` · ${bytes(each.size)} · line ${each.line}`)));
  return { element, text: element.textContent.toLowerCase() };
}
const rows = data.rows.map(row);
const left = data.left.map(each => make("li", {}, make("p.url", {}, breakable(each.url)),
  make("p", {}, `line ${each.line}: ${each.reason}`)));
document.body.append(
  make("header", {}, make("label.switch", {}, box, " ", make("b", {}, "Show the app's files")), search,
    make("p", {}, `${counted(rows.length, "URL")} · ${data.name}`, count)),
  ...left.length ? [make("details", {}, make("summary", {}, `Left to the network: ${counted(left.length, "case")}`),
    make("ul", {}, left))] : [],
  make("ul", { id: "rows" }, rows.map(each => each.element)));

async function show() {
  box.checked = (await rulesets.getEnabledRulesets()).includes("substitutions");
  document.body.classList.toggle("off", !box.checked);
  box.disabled = false;
}

box.addEventListener("change", async () => {
  box.disabled = true;
  const ids = ["substitutions"];
  await rulesets.updateEnabledRulesets(box.checked ? { enableRulesetIds: ids } : { disableRulesetIds: ids });
  await show();
  // Reload the active tab, so that it shows the change.
  chrome.tabs.reload({ bypassCache: true });
});
search.addEventListener("input", () => {
  const isFound = finder(search.value);
  let shown = 0;
  for (const row of rows) {
    row.element.hidden = !isFound(row.text);
    if (!row.element.hidden) shown += 1;
  }
  count.textContent = shown === rows.length ? "" : `${shown} shown`;
});
show();

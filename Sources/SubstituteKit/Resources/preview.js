const kinds = { image: "Images", font: "Fonts", audio: "Sounds", video: "Videos", text: "Texts", other: "Other files" };
// Each vendor documents the scheme of its editor; for Xcode, none is documented.
// https://code.visualstudio.com/docs/configure/command-line#_opening-vs-code-with-urls
// https://macromates.com/blog/2007/the-textmate-url-scheme/
const editors = [["VS Code", "vscode://file{path}:{line}:{column}"],
  ["VS Code Insiders", "vscode-insiders://file{path}:{line}:{column}"],
  ["TextMate", "txmt://open?url=file://{path}&line={line}&column={column}"]];
const option = (value, title) => make("option", { value }, title);
const radio = (value, title) => make("label", {}, make("input", { type: "radio", name: "view", value }), title);
const search = make("input", { type: "search", "aria-label": "Find", placeholder: "URL, file or type" });
const output = make("output");
const form = make("form.filter", { autocomplete: "off", hidden: "" }, search, output,
  make("select", { name: "kind", "aria-label": "Kind" }),
  make("select", { name: "order", "aria-label": "Order" }, option("", "By name"),
    option("manifest", "As in the manifest"), option("size", "Largest first")),
  data.manifest && make("select", { name: "editor", "aria-label": "Editor" }, option("", "Open lines in …"),
    editors.map(([name, address]) => option(address, name))),
  make("fieldset", {}, make("legend", {}, "View"), radio("cards", "Cards"), radio("list", "List")));
form.elements.view.value = "cards";
const [header, issues, main] = [make("header"), make("div", { id: "issues" }), make("main")];
document.body.append(header, issues, form, main);
let cards = [];
// The cards that are open in the list, by their anchors.
const opened = new Set();
const isList = () => form.elements.view.value === "list";

// Divides a URL into its server, its folder, its name, and all that is before the name.
function parts(url) {
  const path = url.split("?", 1)[0];
  const host = path.indexOf("//") < 0 ? 0 : path.indexOf("//") + 2;
  const root = path.indexOf("/", host) < 0 ? path.length : path.indexOf("/", host);
  const last = Math.max(root, root + path.slice(root, -1).lastIndexOf("/") + 1);
  return { host: url.slice(url.startsWith("https://") ? host : 0, root), folder: url.slice(root, last) || "/",
    name: url.slice(last), start: last };
}
// The order that people expect of names: i2 before i10.
const order = new Intl.Collator("en", { numeric: true, sensitivity: "accent" }).compare;
const byName = (one, other) => order(one.parts.host, other.parts.host) || order(one.parts.folder, other.parts.folder)
  || order(one.parts.name, other.parts.name) || one.number - other.number;

function sample(row, label) {
  if (row.problem && row.kind !== "image") return make("p.problem", {}, row.problem);
  const family = `font-family: f${row.number}`;
  switch (row.kind) {
  case "image": return make("img", { loading: "lazy", decoding: "async", alt: "", src: row.address });
  case "font": return [
    make("style", {}, `@font-face { font-family: f${row.number}; src: url("${row.address}"); }`),
    make("p.big", { "data-font": `f${row.number}`, style: family }, "Aa"),
    make("p", { style: family }, "The quick brown fox jumps over 13 lazy dogs.")];
  case "audio": return make("audio", { controls: "", preload: "none", src: row.address });
  case "video": return make("video", { controls: "", preload: "metadata", src: row.address });
  case "text": return make("pre", {}, row.sample);
  default: return make("p.big", {}, label);
  }
}
function card(row, number) {
  const id = `line-${row.line}-${number}`;
  const name = row.file.split("/").pop().split(".").filter(Boolean);
  const label = name.length > 1 ? name.pop().slice(0, 8) : "file";
  row.number = number;
  // The browser says by itself whether it can show a picture.
  const isBroken = row.problem && row.kind !== "image";
  const chips = row.problem && !isBroken ? [row.problem, ...row.remarks] : row.remarks;
  const element = make(`li.card${row.expired ? ".expired" : ""}`, { id, "data-kind": row.kind },
    make(`div.show.${row.kind}${isBroken ? ".broken" : ""}`, { "data-label": label }, sample(row, label)),
    make("div.about", {},
      make("p.url", {}, make("a", { href: `#${id}`, title: row.url }, inParts(row.url, parts(row.url).start))),
      make("p.file", {}, make("a", { href: row.address }, inParts(row.file))),
      make("p.facts", {}, make("span.type", {}, row.type.replace(/; charset=utf-8$/, "")), " ",
        make("span.bytes", {}, bytes(row.size)), " ",
        make("span.line", {}, make("a", { "data-place": `${row.line}:${row.column}` }, `line ${row.line}`))),
      chips.length ? make("p.chips", {}, chips.map(remark => [make("span", {}, remark), " "]).flat()) : null));
  return { ...row, element, json: JSON.stringify(row), parts: parts(row.url),
    text: element.querySelector(".about").textContent.toLowerCase() };
}
// Returns the card of the entry that contains an issue: the last one that begins at or before the issue.
function target(issue) {
  const isBefore = ([line, column]) => line < issue.line || line === issue.line && column <= issue.column;
  const [line, column] = data.entries.findLast(isBefore) ?? [];
  const found = cards.find(card => card.line === line && card.column === column);
  return found ? `#${found.element.id}` : null;
}
function list(issue) {
  const place = `${issue.line}:${issue.column}`;
  const link = issue.isAboutTheWhole ? null : make("a", { href: target(issue), "data-place": place }, place);
  // The line wraps on a narrow screen, so a caret below it could stand below another character.
  const excerpt = issue.excerpt && make("pre", {}, issue.excerpt[0], make("mark", {}, issue.excerpt[1]), issue.excerpt[2]);
  return make(`li.${issue.severity}`, {}, make("b", {}, issue.severity), " ", link, " ", issue.message, excerpt);
}
// Groups the cards by a part of their URLs, in the order of the cards.
function grouped(cards, part) {
  const groups = new Map();
  for (const card of cards) {
    if (!groups.has(card.parts[part])) groups.set(card.parts[part], []);
    groups.get(card.parts[part]).push(card);
  }
  return [...groups];
}
function folder([name, cards], hasHeading) {
  const list = make("ul.cards");
  for (const card of cards) card.group = list;
  return make("section", {}, hasHeading ? make("h3", {}, breakable(name)) : null, list);
}
function host([name, cards]) {
  const folders = grouped(cards, "folder");
  const files = new Map(cards.map(card => [card.file, card.size]));
  const size = [...files.values()].reduce((sum, size) => sum + size, 0);
  return make("section", {},
    make("h2", {}, make("b", {}, breakable(name)),
      folders.length === 1 ? make("span", {}, breakable(folders[0][0])) : null, " ",
      make("small", {}, `${counted(files.size, "file")}, ${bytes(size)}`)),
    folders.map(each => folder(each, folders.length > 1)));
}
// Shows the data; a card whose file and entry are the same stays the same element.
function render() {
  document.title = `${data.heading}: ${data.name}`;
  header.classList.toggle("error", data.isRefused);
  header.replaceChildren(make("h1", {}, data.heading), make("p.manifest", {}, inParts(data.name)),
    make("p.totals", {}, data.summary[0], data.warnings ? [" · ", make("strong.warning", {}, data.warnings)] : null),
    ...data.summary.slice(1).map(sentence => make("p", {}, sentence)));
  const old = new Map(cards.map(card => [card.json, card.element]));
  cards = data.rows.map(card);
  const added = cards.filter(card => !old.has(card.json));
  for (const card of cards) card.element = old.get(card.json) ?? card.element;
  const worst = data.isRefused ? "error" : "warning";
  issues.replaceChildren(...data.issues.length ? [make(`section.issues.${worst}`, { "aria-label": "Errors and warnings" },
    make("ul", {}, data.issues.map(list)))] : []);
  const kind = form.elements.kind.value;
  form.elements.kind.replaceChildren(option("", "All kinds"),
    ...Object.entries(kinds).filter(([kind]) => cards.some(card => card.kind === kind)).map(each => option(...each)));
  form.elements.kind.value = kind;
  if (form.elements.kind.selectedIndex < 0) form.elements.kind.value = "";
  main.replaceChildren(make("ul.cards", { id: "flat" }), ...grouped([...cards].sort(byName), "host").map(host),
    ...data.next ? [make("p", {}, "No file stands in for a URL yet. To load a page with all its files, or single files, run:"),
      make("pre.next", {}, data.next)] : []);
  sort();
  for (const card of added) prepare(card.element);
  leadToEditor();
  apply();
}
function apply() {
  const isFound = finder(search.value);
  const kind = form.elements.kind.value;
  main.classList.toggle("list", isList());
  form.hidden = !cards.length;
  let shown = 0;
  for (const card of cards) {
    const isShown = (!kind || card.kind === kind) && isFound(card.text);
    card.element.hidden = !isShown;
    if (isShown) shown += 1;
    const isOpen = opened.has(card.element.id);
    card.element.classList.toggle("row", isList() && !isOpen);
    const link = card.element.querySelector(".url a");
    if (isList()) link.setAttribute("aria-expanded", isOpen); else link.removeAttribute("aria-expanded");
  }
  for (const section of main.querySelectorAll("section")) {
    section.hidden = !section.querySelector(".card:not([hidden])");
  }
  output.textContent = shown === cards.length ? "" : `${shown} of ${cards.length}`;
}
function toggle(event) {
  const link = event.target.closest(".url a");
  if (!link || !isList()) return;
  event.preventDefault();
  const anchor = link.closest(".card").id;
  if (!opened.delete(anchor)) opened.add(anchor);
  apply();
}
// Opens the card that the URL's fragment names.
function reveal() {
  opened.add(location.hash.slice(1));
  apply();
}
// Links line numbers to the chosen editor. If no editor is chosen, restores the original links.
function leadToEditor() {
  const address = form.elements.editor?.value;
  for (const link of document.querySelectorAll("[data-place]")) {
    link.dataset.card ??= link.getAttribute("href") ?? "";
    const [line, column] = link.dataset.place.split(":");
    const path = data.manifest;
    link.href = address
      ? address.replace("{path}", path).replace("{line}", line).replace("{column}", column) : link.dataset.card;
    if (!address && !link.dataset.card) link.removeAttribute("href");
  }
}
// Restores the saved choices. Not every browser has storage for a page with a file URL.
function recall() {
  try {
    if (localStorage.getItem("substitute view") === "list") form.elements.view.value = "list";
    const editor = localStorage.getItem("substitute editor");
    for (const option of form.elements.editor?.options ?? []) option.selected = option.value === editor;
  } catch { }
}
function remember(name) {
  try { localStorage.setItem(`substitute ${name}`, form.elements[name].value); } catch { }
}
// By name, each card is in the group of its folder; in any other order, all cards are in one list.
function sort() {
  const orders = { manifest: (one, other) => one.number - other.number,
    size: (one, other) => other.size - one.size || one.number - other.number };
  const order = orders[form.elements.order.value];
  if (order) main.querySelector("#flat").append(...[...cards].sort(order).map(card => card.element));
  else for (const card of [...cards].sort(byName)) card.group.append(card.element);
}
form.addEventListener("input", event => {
  const name = event.target.name;
  if (name === "order") sort();
  if (name === "editor") leadToEditor();
  if (name === "view" || name === "editor") remember(name);
  apply();
});
addEventListener("click", toggle);
addEventListener("hashchange", reveal);
form.addEventListener("submit", event => event.preventDefault());
addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
  if (event.key === "Escape") { search.value = ""; apply(); }
});
// Shows a sentence instead of a file that the browser cannot show.
function mark(element, sentence) {
  const show = element.closest(".show");
  show.replaceChildren(make("p.problem", {}, sentence));
  show.classList.remove("transparent");
  show.classList.add("broken");
}
function showPicture(image) {
  if (!image.naturalWidth) return mark(image, "This browser cannot show the picture.");
  const card = image.closest(".card");
  const facts = card.querySelector(".facts");
  // An SVG scales to its container, so it has no size in pixels.
  if (!facts.querySelector(".pixels") && !facts.textContent.includes("svg")) {
    const size = `${image.naturalWidth} × ${image.naturalHeight} px`;
    facts.querySelector(".line").before(make("span.pixels", {}, size), " ");
  }
  showTransparency(image);
}
function prepare(element) {
  for (const image of element.querySelectorAll(".show img")) {
    image.addEventListener("error", () => mark(image, "This browser cannot show the picture."));
    if (image.complete) showPicture(image); else image.addEventListener("load", () => showPicture(image));
  }
  for (const media of element.querySelectorAll("audio, video")) {
    media.addEventListener("error", () => mark(media, "This browser cannot play it."));
  }
  for (const sample of element.querySelectorAll("[data-font]")) {
    document.fonts.load(`1rem ${sample.dataset.font}`).catch(() => mark(sample, "This browser cannot use the font."));
  }
}
recall();
render();
reveal();

const form = document.querySelector(".filter");
const search = form.querySelector("input[type=search]");
const output = form.querySelector("output");
let main = document.querySelector("main");
let cards = [];
// The cards that are open in the list, by their anchors.
const opened = new Set();
const isList = () => form.elements.view.value === "list";
function apply() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const kind = form.elements.kind.value;
  main.classList.toggle("list", isList());
  form.hidden = !cards.length;
  let shown = 0;
  for (const card of cards) {
    const isShown = (!kind || card.kind === kind) && words.every(word => card.text.includes(word));
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
    const path = document.documentElement.dataset.manifest;
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
  const orders = { manifest: (first, second) => first.number - second.number,
    size: (first, second) => second.size - first.size || first.number - second.number };
  const order = orders[form.elements.order.value];
  if (order) main.querySelector("#flat").append(...[...cards].sort(order).map(card => card.element));
  else for (const card of cards) card.group.append(card.element);
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
  const words = document.createElement("p");
  words.className = "problem";
  words.textContent = sentence;
  show.replaceChildren(words);
  show.classList.remove("transparent");
  show.classList.add("broken");
}
function showPicture(image) {
  if (!image.naturalWidth) return mark(image, "This browser cannot show the picture.");
  const card = image.closest(".card");
  const facts = card.querySelector(".facts");
  // An SVG scales to its container, so it has no size in pixels.
  if (!facts.querySelector(".pixels") && !facts.textContent.includes("svg")) {
    const size = document.createElement("span");
    size.className = "pixels";
    size.textContent = `${image.naturalWidth} × ${image.naturalHeight} px`;
    facts.querySelector(".line").before(size, " ");
  }
  if (isTransparent(image) && image.parentElement.children.length === 1) {
    image.parentElement.classList.add("transparent");
    image.parentElement.classList.toggle("wide", image.naturalWidth > 2 * image.naturalHeight);
    image.after(image.cloneNode());
  }
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
function describe(element, html, group) {
  const text = element.querySelector(".about").textContent.toLowerCase();
  const number = Number(element.id.split("-").pop());
  return { element, html, group, number, kind: element.dataset.kind, size: Number(element.dataset.size), text };
}
cards = [...document.querySelectorAll(".card")].map(
  element => describe(element, element.outerHTML, element.parentElement));
for (const card of cards) prepare(card.element);
recall();
leadToEditor();
reveal();

let version = document.documentElement.dataset.version;
async function refresh() {
  const response = await fetch("/", { cache: "no-store" });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  version = page.documentElement.dataset.version;
  document.title = page.title;
  for (const selector of ["header", "#issues"]) {
    document.querySelector(selector).replaceWith(page.querySelector(selector));
  }
  const kind = form.elements.kind.value;
  form.elements.kind.replaceWith(page.querySelector("[name=kind]"));
  form.elements.kind.value = kind;
  if (form.elements.kind.selectedIndex < 0) form.elements.kind.value = "";
  const old = new Map(cards.map(card => [card.html, card.element]));
  const next = document.adoptNode(page.querySelector("main"));
  cards = [...next.querySelectorAll(".card")].map(element => {
    const [html, group] = [element.outerHTML, element.parentElement];
    const same = old.get(html);
    if (same) element.replaceWith(same); else prepare(element);
    return describe(same ?? element, html, group);
  });
  main.replaceWith(next);
  main = next;
  sort();
  leadToEditor();
  apply();
}
// Refreshes run one at a time, and the last version is always shown.
let running = Promise.resolve();
const events = new EventSource("/events");
events.addEventListener("message", event => {
  document.querySelector(".ended")?.remove();
  running = running.then(() => event.data === version ? null : refresh()).catch(() => null);
});
events.addEventListener("error", () => {
  if (document.querySelector(".ended")) return;
  const words = document.createElement("p");
  words.className = "ended";
  words.textContent = "The preview has ended; start substitute preview --serve again.";
  document.body.prepend(words);
});

// Chromium, Firefox and Safari all provide this API under the name chrome.
const rules = chrome.declarativeNetRequest;
const box = document.getElementById("switch");
const search = document.getElementById("search");
const count = document.getElementById("count");
const rows = [...document.querySelectorAll("#rows li")].map(element =>
  ({ element, text: element.textContent.toLowerCase() }));

async function show() {
  box.checked = (await rules.getEnabledRulesets()).includes("substitutions");
  document.body.classList.toggle("off", !box.checked);
  box.disabled = false;
}

box.addEventListener("change", async () => {
  box.disabled = true;
  const ids = ["substitutions"];
  await rules.updateEnabledRulesets(box.checked ? { enableRulesetIds: ids } : { disableRulesetIds: ids });
  await show();
  // Reload the active tab, so that it shows the change.
  chrome.tabs.reload({ bypassCache: true });
});

search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    row.element.hidden = !words.every(word => row.text.includes(word));
    if (!row.element.hidden) shown += 1;
  }
  count.textContent = shown === rows.length ? "" : `${shown} shown`;
});

for (const image of document.querySelectorAll("#rows img")) {
  // Show a transparent image on white and on black, so that it is visible on at least one of the two.
  const look = () => {
    if (!isTransparent(image)) return;
    image.parentElement.classList.add("transparent");
    image.after(image.cloneNode());
  };
  if (image.complete) look(); else image.addEventListener("load", look, { once: true });
}

show();

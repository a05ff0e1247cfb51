async function refresh() {
  const response = await fetch("/", { cache: "no-store" });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  data = JSON.parse(page.getElementById("data").textContent);
  render();
}
// Refreshes run one at a time, and the last version is always shown.
let running = Promise.resolve();
const events = new EventSource("/events");
events.addEventListener("message", event => {
  document.querySelector(".ended")?.remove();
  running = running.then(() => event.data === String(data.version) ? null : refresh()).catch(() => null);
});
events.addEventListener("error", () => {
  if (document.querySelector(".ended")) return;
  document.body.prepend(make("p.ended", {}, "The preview has ended; start substitute preview --serve again."));
});

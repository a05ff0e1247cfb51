// A URL of any other scheme could run a script.
const link = url => /^https?:/.test(url) ? make("a", { href: url, rel: "noreferrer" }, breakable(url)) : breakable(url);
const list = (title, items) => items.length
  ? [make("h3", {}, title, " ", make("small", {}, items.length)), make("ul", {}, items.map(item => make("li", {}, item)))] : [];
const words = place => `x ${place.x} y ${place.y} (${place.width} × ${place.height})`;

// Returns the parts of the page that differ, with some space around the places; parts that overlap are one.
function crops({ places, width, height, scale }) {
  const page = { width: Math.max(1, Math.round(width / scale)), height: Math.max(1, Math.round(height / scale)) };
  const range = (start, length, least, whole) => {
    const wanted = Math.min(whole, Math.max(least, length + 64));
    return [Math.min(Math.max(0, start + length / 2 - wanted / 2), whole - wanted), wanted].map(Math.floor);
  };
  const touches = (one, other) => one.x < other.x + other.width && other.x < one.x + one.width
    && one.y < other.y + other.height && other.y < one.y + one.height;
  const found = [];
  for (const place of places) {
    const [x, width] = range(place.x, place.width, 320, page.width);
    const [y, height] = range(place.y, place.height, 120, page.height);
    let crop = { x, y, width, height, places: [place] };
    for (let other; (other = found.findIndex(each => touches(each, crop))) >= 0;) {
      const [old] = found.splice(other, 1);
      const [left, top] = [Math.min(old.x, crop.x), Math.min(old.y, crop.y)];
      crop = { x: left, y: top, width: Math.max(old.x + old.width, crop.x + crop.width) - left,
        height: Math.max(old.y + old.height, crop.y + crop.height) - top, places: [...old.places, ...crop.places] };
    }
    found.push(crop);
  }
  // A taller part would fill more than a screen; the links lead to the whole pictures.
  return found.map(crop => ({ ...crop, height: Math.min(crop.height, 900), pageWidth: page.width }));
}
// A part of both screenshots, with a slider between them.
function figure(crop, number) {
  const percent = (value, whole) => `${Math.round(value / Math.max(1, whole) * 1e5) / 1e3}%`;
  const style = `width:${percent(crop.pageWidth, crop.width)};left:${percent(-crop.x, crop.width)};top:${percent(-crop.y, crop.height)}`;
  const image = (kind, alt) => make("img", { src: `${number}-${kind}.png`, alt, loading: "lazy", style });
  const marks = crop.places.map(mark => make("i", { style: `left:${percent(mark.x - crop.x, crop.width)};`
    + `top:${percent(mark.y - crop.y, crop.height)};width:${percent(mark.width, crop.width)};`
    + `height:${percent(mark.height, crop.height)}` }));
  const [first] = crop.places;
  const at = Math.min(95, Math.max(5, Math.floor((first.x + first.width / 2 - crop.x) * 100 / Math.max(1, crop.width))));
  const text = crop.places.map(words).join("; ");
  const slider = make("input", { type: "range", value: at,
    "aria-label": `Left of it from the network, right of it with the files: ${text}` });
  const compare = make("div.compare", { style: `aspect-ratio:${crop.width}/${crop.height};--at:${at}%` },
    image("network", "From the network"), make("div.after", {}, image("files", "With the files")), marks,
    make("span.edge"), slider);
  slider.addEventListener("input", () => compare.style.setProperty("--at", slider.value + "%"));
  return make("figure", { style: `max-width:${crop.width}px;flex-basis:${crop.width}px` }, compare,
    make("figcaption", {}, make("span", {}, "network"), make("span", {}, text), make("span", {}, "files")));
}
function picture({ picture, number }) {
  const open = (kind, text) => make("a", { href: `${number}-${kind}.png` }, text);
  if (!picture.places.length) return [make("p.links", {}, open("files", "The picture"), " is the same.")];
  const more = picture.placeCount - picture.places.length;
  return [make("h3", {}, "Picture"),
    make("p.links", {}, "Whole page: ", open("network", "from the network"), ", ", open("files", "with the files"), ", ",
      open("difference", "difference in red"), "."),
    make("div.crops", {}, crops(picture).map(crop => figure(crop, number))),
    more > 0 ? make("p", {}, `${counted(more, "smaller place")} ${more === 1 ? "is" : "are"} not shown.`) : null];
}
function details(page) {
  const missed = page.missed.map(miss => [...breakable(miss.reason),
    ...miss.command ? [make("br"), "Try: ", make("code", {}, breakable(miss.command))] : []]);
  return [...picture(page),
    ...list("Changed files", page.changed.map(change => [...breakable(change.file), ": ", change.sizes, ", ", ...[link(change.url)].flat()])),
    ...list("Requests that no file answered", missed), ...list("Notes", page.notes.map(breakable))];
}
const title = page => [...[link(page.url)].flat(), page.device ? ` (${page.device})` : ""];
function section(page) {
  return make("section", {}, make("h2", {}, title(page)),
    make("ul.problems", {}, page.problems.map(problem => make("li", {}, breakable(`${problem}.`)))),
    page.counts ? [make("p.counts", {}, `${page.counts}.`), ...details(page)] : null);
}
// One line for a page that passed; its details are folded.
function line(page) {
  return make("details", {}, make("summary", {}, make("span.mark", {}, page.fits ? "✓" : "–"),
    make("span", {}, breakable(page.url), page.device ? ` (${page.device})` : "",
      make("small", {}, page.verdict ? make("b", {}, page.verdict) : null, ` ${page.counts}.`))),
    make("p", {}, title(page)), details(page));
}
const [failed, passed] = [data.pages.filter(page => page.problems.length), data.pages.filter(page => !page.problems.length)];
document.body.append(make("h1", {}, data.title), ...failed.map(section),
  ...passed.length ? [make("div.passed", {}, passed.map(line))] : []);

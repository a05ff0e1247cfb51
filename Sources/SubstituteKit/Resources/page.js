let data = JSON.parse(document.getElementById("data").textContent);
// Makes an element, as in make("p.url", { title }, "text"). No text is ever read as HTML.
function make(tag, attributes, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes ?? {})) if (value != null) element.setAttribute(key, value);
  element.append(...children.flat().filter(child => child != null));
  return element;
}
// Returns a text that may wrap after each "/".
const breakable = text => text.split("/").flatMap((part, index) => index ? ["/", make("wbr"), part] : [part]);
// Returns a path in two parts; if space is short, the style cuts the first one.
function inParts(path, start = path.slice(0, -1).lastIndexOf("/") + 1) {
  return [make("span.dir", {}, breakable(path.slice(0, start))), make("span.name", {}, breakable(path.slice(start)))];
}
function counted(number, noun) { return `${number} ${noun}${number === 1 ? "" : "s"}`; }
// Returns a number of bytes in powers of 1000.
function bytes(count) {
  if (count < 1000) return counted(count, "byte");
  let [value, unit] = [count / 1000, 0];
  while (value >= 999.5 && unit < 3) [value, unit] = [value / 1000, unit + 1];
  return `${value.toFixed(value < 9.95 ? 1 : 0)} ${["kB", "MB", "GB", "TB"][unit]}`;
}
// Returns a function that is true for a text with all words of a search.
function finder(search) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return text => words.every(word => text.includes(word));
}
// Shows a transparent picture twice, on white and on black, so that it is visible on at least one of the two.
function showTransparency(image) {
  if (!isTransparent(image) || image.parentElement.children.length !== 1) return;
  image.parentElement.classList.add("transparent");
  image.parentElement.classList.toggle("wide", image.naturalWidth > 2 * image.naturalHeight);
  image.after(image.cloneNode());
}
// If the page has a file URL, the browser refuses to read pixels; the image then counts as opaque.
function isTransparent(image) {
  try {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [24, 24];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0, 24, 24);
    return context.getImageData(0, 0, 24, 24).data.some((value, index) => index % 4 === 3 && value < 250);
  } catch {
    return false;
  }
}

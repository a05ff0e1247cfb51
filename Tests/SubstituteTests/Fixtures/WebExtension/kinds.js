// Loads one resource of each kind, and reports the source of each: "bundle", "network", or "broken" if it did not load.
const results = {};
const cross = `${location.protocol}//other.test:${location.port}`;
const parameters = new URLSearchParams(location.search);
const later = ms => new Promise(done => setTimeout(done, ms));
const within = (promise, ms) => Promise.race([promise, later(ms).then(() => { throw new Error("too late"); })]);

async function kind(name, load, ms = 20000) {
  try { results[name] = (await within(load(), ms)) || "broken"; } catch { results[name] = "broken"; }
}
async function until(value, ms = 5000) {
  for (let waited = 0; waited < ms; waited += 50) {
    const found = value();
    if (found) return found;
    await later(50);
  }
}
const size = pixels => ({ 11: "network", 22: "bundle" })[Math.round(pixels)];
const width = id => size(document.getElementById(id).getBoundingClientRect().width);
const got = path => (globalThis.got || {})[path];
const style = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const element = (tag, attributes, parent = document.body) => new Promise((done, failed) => {
  const made = document.createElement(tag);
  made.onload = () => done(made);
  made.onerror = () => failed(new Error("error event"));
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  parent.append(made);
});
const image = async (src, more = {}) => size((await element("img", { src, ...more })).naturalWidth);
const link = async (name, attributes) => {
  await element("link", { rel: "stylesheet", ...attributes }, document.head);
  return style(name);
};
const script = async (src, attributes = {}) => { await element("script", { src, ...attributes }); return got(new URL(src, location).pathname); };
const json = async (url, options) => (await (await fetch(url, options)).json()).who;
// Draws a picture on a canvas and reads a pixel; throws if the canvas is tainted.
const read = source => {
  const context = document.createElement("canvas").getContext("2d");
  context.drawImage(source, 0, 0, 5, 5);
  context.getImageData(0, 0, 1, 1);
};
const readable = picture => { read(picture); return size(picture.naturalWidth); };
const player = async (tag, src, time = "metadata") => {
  const made = document.createElement(tag);
  made.muted = true;
  made.preload = "auto";
  made.src = src;
  document.body.append(made);
  await new Promise((done, failed) => { made[`onloaded${time}`] = done; made.onerror = failed; });
  return made;
};
const lasting = made => ({ 1: "network", 2: "bundle" })[Math.round(made.duration)];
const jump = made => new Promise(done => { made.onseeked = done; made.currentTime = made.duration * .8; });
const media = async (tag, src) => {
  const made = await player(tag, src);
  const who = lasting(made);
  await jump(made);
  return made.currentTime > made.duration / 2 ? who : "broken";
};
const once = load => { let promise; return () => promise ||= load(); };
// Requests a part of a file once, and returns the response and the bytes.
const part = once(async () => {
  const answer = await fetch("/data/part.txt", { headers: { Range: "bytes=0-5" } });
  return { answer, text: await answer.text() };
});
const plain = once(() => fetch("/data/plain.json"));
const preloadedFont = async () => {
  await element("link", { rel: "preload", as: "font", href: "/fonts/preloaded.woff2", crossorigin: "" }, document.head);
  const sheet = document.createElement("style");
  sheet.textContent = "@font-face { font-family: Preloaded; src: url(/fonts/preloaded.woff2); }";
  document.head.append(sheet);
  return fontWidth("Preloaded");
};
const fontWidth = family => {
  const span = document.createElement("span");
  Object.assign(span, { className: "font", textContent: "A" }).style.fontFamily = `${family}, monospace`;
  document.body.append(span);
  return until(() => ({ 20: "network", 40: "bundle" })[span.getBoundingClientRect().width]);
};
const worker = (src, options) => new Promise((done, failed) => {
  const made = new Worker(src, options);
  made.onmessage = event => done(event.data);
  made.onerror = failed;
  made.postMessage("");
});

const kinds = {
  "picture": () => until(() => size(document.getElementById("parsed").naturalWidth)),
  "picture with srcset": () => image("", { srcset: "/img/srcset.svg 1x" }),
  "picture of a picture element": () => until(() => size(document.getElementById("picture").naturalWidth)),
  "picture, lazy": () => image("/img/lazy.svg", { loading: "lazy" }),
  "picture, preloaded": async () => { await element("link", { rel: "preload", as: "image", href: "/img/preloaded.svg" }, document.head); return image("/img/preloaded.svg"); },
  "picture of another host": () => image(`${cross}/img/cross.svg`),
  "picture with crossorigin": () => image(`${cross}/img/cors.svg`, { crossorigin: "" }),
  "picture with a fragment": () => image("/img/fragment.svg#part"),
  "picture with any query": () => image("/q/any.svg?a=1&b=2"),
  "picture with an ignored parameter": () => image("/q/list.svg?v=7"),
  "picture by http": () => image(`http://other.test:${parameters.get("http")}/img/http.svg`),
  "picture drawn on a canvas": async () => readable(await element("img", { src: "/img/canvas.svg" })),
  "picture with crossorigin on a canvas": async () => readable(await element("img", { src: "/img/canvas-cors.svg", crossorigin: "" })),
  "picture behind a redirect": () => image("/img/redirecting.svg"),
  "name with a space": () => image("/img/with%20space.svg"),
  "name beyond ASCII": () => image("/img/\u00FCn\u00EF.svg"),
  "name as pages encode it": () => image("/img/twice%402x.svg"),
  "name with brackets and a star": () => image("/img/[1]*.svg"),
  "name with quotes, bars and a percent sign": () => image(`/img/${encodeURIComponent("a'b\"c|d^e%f.svg")}`),
  "name of 300 characters": () => image(`/img/${"n".repeat(300)}.svg`),
  "picture in inline CSS": () => until(() => width("inline")),
  "picture in an image-set()": () => until(() => width("image-set")),
  "symbol of an SVG": () => until(() => size(document.getElementById("use").getBBox().width)),
  "poster of a video": () => image("/img/poster.svg"),
  "stylesheet": () => style("site"),
  "stylesheet, added later": () => link("late", { href: "/css/late.css" }),
  "stylesheet, preloaded": async () => { await element("link", { rel: "preload", as: "style", href: "/css/preloaded.css" }, document.head); return link("preloaded", { href: "/css/preloaded.css" }); },
  "stylesheet of another host": () => link("cross", { href: `${cross}/css/cross.css` }),
  "stylesheet with integrity": () => link("integrity", { href: "/css/integrity.css", integrity: "@css@" }),
  "stylesheet with integrity and crossorigin": () => link("integrity-cors", { href: "/css/integrity-cors.css", integrity: "@css-cors@", crossorigin: "" }),
  "text in UTF-8 on a page in another encoding": async () => (await link("encoding", { href: "/css/encoding.css" })).split(" ").pop() === "\u00FC" ? style("encoding").split(" ")[0] : "broken",
  "rules of a stylesheet": async () => document.styleSheets[0].cssRules.length ? style("site") : "broken",
  "@import, relative": () => style("imported"),
  "@import from the root": () => style("root"),
  "url() in CSS, relative": () => until(() => width("css-relative")),
  "url() in CSS from the root": () => until(() => width("css-root")),
  "url() in CSS, not mapped": () => until(() => width("css-unmapped")),
  "font, relative in CSS": () => until(() => ({ 20: "network", 40: "bundle" })[document.getElementById("font-relative").getBoundingClientRect().width]),
  "font, in inline CSS": () => until(() => ({ 20: "network", 40: "bundle" })[document.getElementById("font-inline").getBoundingClientRect().width]),
  "font of another host": async () => {
    document.fonts.add(await new FontFace("Cross", `url(${cross}/fonts/cross.woff2)`).load());
    return fontWidth("Cross");
  },
  "font, preloaded": preloadedFont,
  "script": () => until(() => got("/js/classic.js")),
  "script, added later": () => script("/js/late.js"),
  "script of another host": () => script(`${cross}/js/cross.js`),
  "script with crossorigin": () => until(() => got("/js/cross-origin-attribute.js")),
  "script with integrity": () => script("/js/integrity.js", { integrity: "@js@" }),
  "script with integrity and crossorigin": () => script("/js/integrity-cors.js", { integrity: "@js-cors@", crossorigin: "" }),
  "module": () => until(() => got("/js/module.js")),
  "module, imported relatively": () => until(() => got("/js/dependency.js")),
  "module, imported from the root": () => until(() => got("/js/module-root.js") && got("/js/root-dependency.js")),
  "module, imported by a script": async () => (await import("/js/dynamic.js")).who,
  "error of a script, its message": async () => {
    const words = new Promise(done => addEventListener("error", event => { if (event.message) done(event.message); }));
    await element("script", { src: "/js/throwing.js" });
    const text = await words;
    return ["bundle", "network"].find(who => text.includes(who)) || "hidden";
  },
  "URL of a module (import.meta.url)": async () => (await import("/js/address.js")).url === new URL("/js/address.js", location).href ? "unchanged" : "changed",
  "URL of a response (response.url)": async () => (await fetch("/data/address.json")).url === new URL("/data/address.json", location).href ? "unchanged" : "changed",
  "worker": () => worker("/js/worker.js"),
  "worker, module": () => worker("/js/module-worker.js", { type: "module" }),
  "worker, shared": () => new Promise((done, failed) => {
    const made = new SharedWorker("/js/shared-worker.js");
    made.port.onmessage = event => done(event.data);
    made.onerror = failed;
  }),
  "importScripts of a worker": () => worker("/remote-worker.js"),
  "fetch": () => json("/data/fetch.json"),
  "fetch from another host": () => json(`${cross}/data/cross.json`),
  "fetch with credentials": () => json(`${cross}/data/credentials.json`, { credentials: "include" }),
  "fetch with a header": () => json("/data/header.json", { headers: { "X-Probe": "1" } }),
  "fetch with integrity": () => json("/data/integrity.json", { integrity: "@json@" }),
  "fetch past every cache": () => json("/data/no-store.json", { cache: "no-store" }),
  "fetch in mode same-origin": () => json("/data/same-origin.json", { mode: "same-origin" }),
  "fetch that refuses redirects": () => json("/data/redirect.json", { redirect: "error" }),
  "fetch of a page": async () => (await (await fetch("/data/page.html")).text()).includes("bundle") ? "bundle" : "network",
  "fetch of a part": async () => (await part()).text.slice(0, 6) === "bundle" ? "bundle" : "network",
  "fetch of a part, its length": async () => (await part()).text.length > 7 ? "whole" : "part",
  "fetch of a part, its status": async () => `${(await part()).answer.status}`,
  "fetch of a part, its Content-Range": async () => (await part()).answer.headers.has("Content-Range") ? "there" : "missing",
  "fetch, its Content-Length": async () => (await plain()).headers.has("Content-Length") ? "there" : "missing",
  "fetch, its entry among performance entries": async () => {
    await (await plain()).text();
    return performance.getEntriesByName(new URL("/data/plain.json", location).href).length ? "there" : "missing";
  },
  "fetch, its property redirected": async () => `${(await plain()).redirected}`,
  "fetch with HEAD": async () => (await fetch("/data/head.json", { method: "HEAD" })).headers.get("X-Network") || "bundle",
  "fetch with POST": () => json("/data/post.json", { method: "POST", body: "" }),
  "fetch of another spelling": () => json("/data/til%64e.json"),
  "fetch of a network-first entry": () => json("/data/when.json"),
  "XMLHttpRequest": () => new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("GET", "/data/xhr.json");
    request.onload = () => done(JSON.parse(request.responseText).who);
    request.onerror = failed;
    request.send();
  }),
  "XMLHttpRequest, synchronous": async () => {
    const request = new XMLHttpRequest();
    request.open("GET", "/data/synchronous.json", false);
    request.send();
    return JSON.parse(request.responseText).who;
  },
  "WebAssembly, streamed": async () => {
    const module = await WebAssembly.compileStreaming(fetch("/data/app.wasm"));
    return ["bundle", "network"].find(who => WebAssembly.Module.customSections(module, who).length);
  },
  "video, WebM, after seeking": () => media("video", "/media/film.webm"),
  "video, MP4, after seeking": () => media("video", "/media/film.mp4"),
  "video on a canvas": async () => {
    const film = await player("video", "/media/canvas.webm", "data");
    read(film);
    return lasting(film);
  },
  "video on a canvas, after seeking": async () => {
    const film = await player("video", "/media/canvas-jump.webm", "data");
    await jump(film);
    read(film);
    return lasting(film);
  },
  "audio, WAV, after seeking": () => media("audio", "/media/sound.wav"),
  "audio, Ogg, after seeking": () => media("audio", "/media/sound.ogg"),
  "subtitles": async () => {
    const video = document.createElement("video");
    const track = document.createElement("track");
    Object.assign(track, { src: "/media/subtitles.vtt", default: true });
    video.append(track);
    document.body.append(video);
    track.track.mode = "hidden";
    return until(() => track.track.cues && track.track.cues.length && track.track.cues[0].text);
  },
  "frame": () => until(() => (document.getElementById("frame").contentDocument || {}).title),
  "object": () => until(() => width("object")),
  "embed": () => until(() => width("embed")),
};
const behindWorker = {
  "page's fetch behind a service worker": () => json("/data/controlled.json"),
  "picture behind a service worker": () => image("/img/controlled.svg"),
  "worker's fetch behind a service worker": () => json("/data/worker.json?by-worker"),
};

addEventListener("load", async () => {
  await Promise.all(Object.entries(kinds).map(([name, load]) => kind(name, load)));
  if (navigator.serviceWorker && parameters.has("worker")) {
    const registration = await navigator.serviceWorker.register("/service-worker.js");
    await until(() => navigator.serviceWorker.controller, 10000);
    for (const [name, load] of Object.entries(behindWorker)) await kind(name, load);
    await registration.unregister();
  }
  results["address and cookie of the page"] = location.protocol.startsWith("http") && document.cookie === "probe=1" ? "unchanged" : "broken";
  const next = await fetch(`/report${location.search}`, { method: "POST", body: JSON.stringify(results) });
  const address = await next.text();
  if (address) location = address;
});

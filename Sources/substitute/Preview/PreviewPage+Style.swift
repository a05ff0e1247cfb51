extension PreviewPage {
    static let style = """
        :root { color-scheme: light dark; --paper: #f6f4ef; --card: #fff; --ink: #20242c; --quiet: #626974; --line: #ddd8cc;
          --accent: #1d5fbf; --error: #b3261e; --warning: #8a5a00; --check: #e9e6df; }
        @media (prefers-color-scheme: dark) {
          :root { --paper: #111318; --card: #1a1d24; --ink: #eceef2; --quiet: #9aa2ae; --line: #2d323d; --accent: #8ab4ff;
            --error: #ff8a80; --warning: #f0c060; --check: #22262f; }
        }
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        body { margin: 0 auto; max-width: 90rem; padding: 1.5rem; background: var(--paper); color: var(--ink);
          font: 16px/1.45 system-ui, "DejaVu Sans", sans-serif; }
        h1 { margin: 0; font-size: 1.6rem; letter-spacing: -.01em; }
        header p { margin: 0; color: var(--quiet); overflow-wrap: anywhere; }
        header .totals { margin-top: .35rem; color: var(--ink); }
        header:has(.error) h1 { color: var(--error); }
        .error, .error b { color: var(--error); } .warning, .warning b { color: var(--warning); }
        a { color: var(--accent); }
        .issues { margin-top: 1.25rem; padding: .9rem 1.1rem; background: var(--card); border: 1px solid var(--line);
          border-left: 4px solid currentColor; border-radius: 10px; }
        .issues ul { margin: 0; padding: 0; list-style: none; }
        .issues li { color: var(--ink); overflow-wrap: anywhere; }
        .issues li + li { margin-top: .3rem; }
        .issues pre { margin: .2rem 0 .5rem; overflow-x: auto; color: var(--quiet); font: 13px/1.35 ui-monospace, "DejaVu Sans Mono",
          monospace; }
        .filter { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .6rem 1.2rem; align-items: center;
          margin: 1.25rem -1.5rem 0; padding: .7rem 1.5rem; background: var(--paper); border-bottom: 1px solid var(--line); }
        .filter input[type=search] { width: 17rem; max-width: 100%; padding: .4rem .6rem; border: 1px solid var(--line);
          border-radius: 8px; background: var(--card); color: inherit; font: inherit; }
        .filter fieldset { display: flex; flex-wrap: wrap; gap: .35rem; margin: 0; padding: 0; border: 0; }
        .filter legend { position: absolute; clip-path: inset(50%); }
        .filter fieldset label { padding: .2rem .7rem; border: 1px solid var(--line); border-radius: 1rem; cursor: pointer;
          font-size: .9rem; }
        .filter fieldset input { position: absolute; opacity: 0; }
        .filter fieldset label:has(:checked) { background: var(--ink); color: var(--paper); border-color: var(--ink); }
        .filter fieldset label:has(:focus-visible) { outline: 2px solid var(--accent); outline-offset: 2px; }
        .filter select { padding: .3rem .4rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card);
          color: inherit; font: inherit; font-size: .9rem; }
        .filter output { margin-left: auto; color: var(--quiet); font-size: .9rem; }
        .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); gap: 1rem;
          margin: 1.25rem 0 0; padding: 0; list-style: none; }
        .card { display: flex; flex-direction: column; min-width: 0; overflow: hidden; background: var(--card);
          border: 1px solid var(--line); border-radius: 12px; content-visibility: auto; contain-intrinsic-size: auto 20rem;
          scroll-margin-top: 5rem; }
        .card:target { outline: 3px solid var(--accent); }
        .show { display: flex; flex-direction: column; justify-content: center; height: 10rem; overflow: hidden;
          border-bottom: 1px solid var(--line); text-align: center; }
        .show.image { align-items: center; padding: .75rem; background: repeating-conic-gradient(var(--check) 0 25%,
          transparent 0 50%) 0 0 / 20px 20px; }
        .show img, .show video { max-width: 100%; max-height: 100%; }
        .show.image img { width: 100%; height: 100%; object-fit: contain; }
        .show.transparent { flex-direction: row; padding: 0; background: none; }
        .show.transparent img { width: 50%; padding: .75rem; background: #fff; }
        .show.transparent img + img { background: #15171c; }
        .show.transparent.wide { flex-direction: column; } .show.transparent.wide img { width: 100%; height: 50%; }
        .ended { position: sticky; top: 0; z-index: 2; margin: 0 -1.5rem; padding: .5rem 1.5rem; background: var(--warning);
          color: var(--paper); }
        .show audio { width: calc(100% - 1.5rem); margin: 0 .75rem; }
        .show p { margin: 0 .75rem; } .show .big { font-size: 2.6rem; line-height: 1.2; }
        .show.other { color: var(--quiet); }
        .show .problem { padding: 0 .2rem; color: var(--warning); font-size: .9rem; overflow-wrap: anywhere; }
        .show.broken { background: none; } .expired .show { opacity: .35; }
        .show pre { height: 100%; margin: 0; padding: .6rem .8rem; overflow: hidden; text-align: left;
          font: 12px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; }
        .about { padding: .7rem .9rem .9rem; } .about p { margin: 0; overflow-wrap: break-word; }
        .url { font-weight: 600; font-size: .92rem; } .about a { font-size: .9rem; }
        .facts { color: var(--quiet); font-size: .85rem; }
        .chips { display: flex; flex-wrap: wrap; gap: .3rem; margin-top: .45rem !important; }
        .chips span { max-width: 100%; overflow-wrap: anywhere; padding: .05rem .5rem; background: var(--check); border-radius: .6rem; font-size: .8rem; }
        @media print {
          .filter { display: none; } body { max-width: none; padding: 0; background: #fff; }
          .card { break-inside: avoid; content-visibility: visible; }
        }
        """

    static let script = """
        const form = document.querySelector(".filter");
        const search = form.querySelector("input[type=search]");
        const output = form.querySelector("output");
        let cards = [];
        function apply() {
          const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
          const kind = form.elements.kind.value || "all";
          let shown = 0;
          for (const card of cards) {
            const isShown = (kind === "all" || card.kind === kind) && words.every(word => card.text.includes(word));
            card.element.hidden = !isShown;
            if (isShown) shown += 1;
          }
          output.textContent = shown === cards.length ? "" : `${shown} of ${cards.length}`;
        }
        function sort() {
          const isBySize = form.elements.order.value === "size";
          const sorted = isBySize ? [...cards].sort((first, second) => second.size - first.size) : cards;
          document.querySelector(".cards").append(...sorted.map(card => card.element));
        }
        form.addEventListener("input", event => { if (event.target.name === "order") sort(); apply(); });
        form.addEventListener("submit", event => event.preventDefault());
        addEventListener("keydown", event => {
          if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
          if (event.key === "Escape") { search.value = ""; apply(); }
        });
        // What a browser cannot show says so in words.
        function mark(element, sentence) {
          const show = element.closest(".show");
          const words = document.createElement("p");
          words.className = "problem";
          words.textContent = sentence;
          show.replaceChildren(words);
          show.classList.remove("transparent");
          show.classList.add("broken");
        }
        // Pages from files may not look into their pictures; then there is one picture, on its checks.
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
        function showPicture(image) {
          if (!image.naturalWidth) return mark(image, "This browser cannot show the picture.");
          const card = image.closest(".card");
          const facts = card.querySelector(".facts");
          // An SVG has the size that it is given.
          if (!facts.dataset.pixels && !facts.textContent.includes("svg")) {
            facts.dataset.pixels = "told";
            facts.append(` · ${image.naturalWidth} × ${image.naturalHeight} px`);
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
        function describe(element, html) {
          const text = element.querySelector(".about").textContent.toLowerCase();
          return { element, html, kind: element.dataset.kind, size: Number(element.dataset.size), text };
        }
        cards = [...document.querySelectorAll(".card")].map(element => describe(element, element.outerHTML));
        for (const card of cards) prepare(card.element);
        form.hidden = false;
        apply();
        """

    /// Follows what is saved: cards that are as they were stay, with their pictures.
    static let liveScript = """
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
          form.querySelector("fieldset").replaceWith(page.querySelector(".filter fieldset"));
          const chosen = form.querySelector(`[name=kind][value="${kind}"]`);
          if (chosen) chosen.checked = true;
          const old = new Map(cards.map(card => [card.html, card.element]));
          cards = [...page.querySelectorAll(".card")].map(element => {
            const same = old.get(element.outerHTML);
            if (same) return describe(same, element.outerHTML);
            const card = describe(document.adoptNode(element), element.outerHTML);
            prepare(card.element);
            return card;
          });
          document.querySelector(".cards").replaceChildren(...cards.map(card => card.element));
          sort();
          apply();
        }
        // One at a time, and the last is never left out.
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
        """
}

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
        .error, .error b { color: var(--error); } .warning, .warning b { color: var(--warning); }
        a { color: var(--accent); }
        .issues { margin-top: 1.25rem; padding: .9rem 1.1rem; background: var(--card); border: 1px solid var(--line);
          border-left: 4px solid currentColor; border-radius: 10px; }
        .issues ul { margin: 0; padding: 0; list-style: none; }
        .issues li { color: var(--ink); overflow-wrap: anywhere; }
        .issues li + li { margin-top: .3rem; }
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
        const cards = [...document.querySelectorAll(".card")].map(element =>
          ({ element, kind: element.dataset.kind, text: element.querySelector(".about").textContent.toLowerCase() }));
        function apply() {
          const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
          const kind = form.elements.kind.value;
          let shown = 0;
          for (const card of cards) {
            const isShown = (kind === "all" || card.kind === kind) && words.every(word => card.text.includes(word));
            card.element.hidden = !isShown;
            if (isShown) shown += 1;
          }
          output.textContent = shown === cards.length ? "" : `${shown} of ${cards.length}`;
        }
        form.addEventListener("input", apply);
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
          show.classList.add("broken");
        }
        for (const image of document.images) {
          const check = () => image.complete && !image.naturalWidth && mark(image, "This browser cannot show the picture.");
          image.addEventListener("error", check);
          check();
        }
        for (const media of document.querySelectorAll("audio, video")) {
          media.addEventListener("error", () => mark(media, "This browser cannot play it."));
        }
        for (const sample of document.querySelectorAll("[data-font]")) {
          document.fonts.load(`1rem ${sample.dataset.font}`).catch(() => mark(sample, "This browser cannot use the font."));
        }
        form.hidden = false;
        apply();
        """
}

extension PreviewPage {
    static let style = """
        :root { color-scheme: light dark; --paper: #f6f4ef; --card: #fff; --ink: #20242c; --quiet: #5b626d; --line: #ddd8cc;
          --accent: #1d5fbf; --error: #b3261e; --warning: #8a5a00; --check: #e9e6df; }
        @media (prefers-color-scheme: dark) {
          :root { --paper: #111318; --card: #1a1d24; --ink: #eceef2; --quiet: #9aa2ae; --line: #2d323d; --accent: #8ab4ff;
            --error: #ff8a80; --warning: #f0c060; --check: #22262f; }
        }
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
        body { --edge: 1.5rem; margin: 0 auto; max-width: 90rem; padding: var(--edge); background: var(--paper); color: var(--ink);
          font: 16px/1.45 system-ui, "DejaVu Sans", sans-serif; }
        h1 { margin: 0; font-size: 1.6rem; line-height: 1.25; letter-spacing: -.01em; }
        header:has(.error) h1 { color: var(--error); }
        header p { margin: 0; color: var(--quiet); overflow-wrap: anywhere; }
        header .totals { margin-top: .35rem; color: var(--ink); }
        .error, .error b { color: var(--error); } .warning, .warning b { color: var(--warning); }
        a { color: var(--accent); } a:not([href]) { color: inherit; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        .issues { margin-top: 1.25rem; padding: .9rem 1.1rem; background: var(--card); border: 1px solid var(--line);
          border-left: 4px solid currentColor; border-radius: 10px; }
        .issues ul { margin: 0; padding: 0; list-style: none; }
        .issues li { color: var(--ink); overflow-wrap: anywhere; }
        .issues li + li { margin-top: .3rem; }
        pre { font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
        .issues pre { margin: .2rem 0 .5rem; color: var(--quiet); }
        .issues mark { background: none; color: var(--error); font-weight: 700; text-decoration: underline wavy; }
        .next { padding: .9rem 1.1rem; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
        .filter { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .4rem .6rem; align-items: center;
          margin: 1.25rem calc(-1 * var(--edge)) 0; padding: .5rem var(--edge); background: var(--paper);
          border-bottom: 1px solid var(--line); line-height: 1.3; }
        .filter :is(input[type=search], select) { min-width: 0; padding: .25rem .5rem; border: 1px solid var(--quiet);
          border-radius: 8px; background: var(--card); color: inherit; font: inherit; font-size: .9rem; }
        .filter input[type=search] { flex: 1 1 12rem; max-width: 24rem; }
        .filter ::placeholder { color: var(--quiet); opacity: 1; }
        .filter output { flex: none; color: var(--quiet); font-size: .9rem; }
        .filter fieldset { display: flex; margin: 0 0 0 auto; padding: 0; border: 0; }
        .filter legend { position: absolute; clip-path: inset(50%); }
        .filter label { position: relative; padding: .2rem .7rem; border: 1px solid var(--line); border-radius: 8px 0 0 8px;
          font-size: .9rem; white-space: nowrap; cursor: pointer; }
        .filter label + label { margin-left: -1px; border-radius: 0 8px 8px 0; }
        .filter label input { position: absolute; inset: 0; margin: 0; opacity: 0; cursor: pointer; }
        .filter label:has(:checked) { background: var(--ink); color: var(--paper); border-color: var(--ink); }
        .filter label:has(:focus-visible) { outline: 2px solid var(--accent); outline-offset: 2px; }
        h2, h3 { margin: 1.6rem 0 0; font-size: 1.05rem; font-weight: 400; line-height: 1.3; overflow-wrap: anywhere; }
        h3 { margin-top: .5rem; } section > section { margin-bottom: .6rem; } h2 span, h3, small { color: var(--quiet); } small { font-size: .85rem; margin-left: .4rem; }
        .cards:empty { display: none; }
        /* Folders with few files stand side by side. */
        main > section, .cards { display: flex; flex-wrap: wrap; align-items: start; gap: 1rem; }
        main > section { row-gap: 0; } h2 { width: 100%; } section > section { max-width: 100%; }
        .cards { margin: .6rem 0 0; padding: 0; list-style: none; }
        .card { width: 18rem; max-width: 100%; display: flex; flex-direction: column; min-width: 0; overflow: hidden; background: var(--card);
          border: 1px solid var(--line); border-radius: 12px; content-visibility: auto; contain-intrinsic-size: auto 20rem;
          scroll-margin-top: 6rem; }
        .card:target { outline: 3px solid var(--accent); }
        .show { display: flex; flex-direction: column; justify-content: center; height: 10rem; overflow: hidden;
          border-bottom: 1px solid var(--line); text-align: center; }
        .show.image { align-items: center; padding: .75rem; background: repeating-conic-gradient(var(--check) 0 25%,
          transparent 0 50%) 0 0 / 20px 20px; }
        .show img, .show video { max-width: 100%; max-height: 100%; }
        .show.image img { width: 100%; height: 100%; object-fit: scale-down; }
        .show.transparent { flex-direction: row; padding: 0; background: none; }
        .show.transparent img { width: 50%; padding: .75rem; background: #fff; }
        .show.transparent img + img { background: #15171c; }
        .show.transparent.wide { flex-direction: column; } .show.transparent.wide img { width: 100%; height: 50%; }
        .ended { position: sticky; top: 0; z-index: 2; margin: 0 calc(-1 * var(--edge)); padding: .5rem var(--edge);
          background: var(--warning); color: var(--paper); }
        .show:is(.text, .audio, .other, .broken) { height: auto; padding: .5rem 0; }
        .show audio { width: calc(100% - 1.5rem); margin: 0 .75rem; }
        .show p { margin: 0 .75rem; } .show .big { font-size: 2.6rem; line-height: 1.2; }
        .show.other { color: var(--quiet); }
        .show .problem { padding: 0 .2rem; color: var(--warning); font-size: .9rem; overflow-wrap: anywhere; }
        .show.broken { background: none; } .expired .show { opacity: .35; }
        .show pre { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 8; margin: 0 .8rem; overflow: hidden;
          text-align: left; font-size: 12px; line-height: 18px; }
        .about { padding: .7rem .9rem .9rem; } .about p { margin: 0; overflow-wrap: break-word; }
        .url { font-size: .95rem; } .url .name { font-weight: 600; }
        .url a { display: flex; flex-direction: column-reverse; color: inherit; text-decoration: none; }
        .url a:hover .name { text-decoration: underline; }
        .url .dir { color: var(--quiet); font-size: .85rem; } section .url .dir { display: none; }
        .file a { display: flex; font-size: .85rem; white-space: nowrap; }
        .file :is(.dir, .name) { overflow: hidden; text-overflow: ellipsis; }
        .file .dir { flex: 0 1 auto; min-width: min(1.5em, 100%); color: var(--quiet); } .file .dir:empty { display: none; } .file .name { flex: 0 0 auto; max-width: calc(100% - 1.5em); }
        .facts { color: var(--quiet); font-size: .85rem; }
        .facts span:not(:last-child)::after { content: " ·"; }
        .facts :is(.bytes, .pixels, .line) { white-space: nowrap; }
        .chips { display: flex; flex-wrap: wrap; gap: .3rem; margin-top: .45rem !important; }
        .chips span { max-width: 100%; overflow-wrap: anywhere; padding: .05rem .5rem; background: var(--check); border-radius: .6rem; font-size: .8rem; }
        @media print {
          .filter { display: none; } body { max-width: none; padding: 0; background: #fff; }
          .card { break-inside: avoid; content-visibility: visible; }
        }
        """

    /// The style of the list view: each card is a row of one line until it is opened.
    static let listStyle = """
        .list :is(section, .cards) { display: block; margin-bottom: 0; } .list .card { width: auto; }
        .list .cards { margin-top: .2rem; }
        .list :is(h2, h3) { margin-top: .4rem; font-size: .9rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .list .card:not(.row) { margin: .5rem 0; }
        .row { display: grid; grid-template-columns: 40px minmax(0, 1fr) auto; gap: 0 .6rem; align-items: center; height: 24px;
          border-width: 0 0 1px; border-radius: 0; background: none; contain-intrinsic-size: auto 24px; font-size: 13px;
          line-height: 22px; white-space: nowrap; }
        .row :is(.about, .facts) { display: contents; }
        .row :is(.file, .chips, .type, .pixels, .line), .row .show > :not(img) { display: none; }
        .row :is(.show, .about p, .facts span) { grid-row: 1; font-size: 13px; overflow: hidden; text-overflow: ellipsis; }
        .row .show { grid-column: 1; min-height: 0; } .row .url { grid-column: 2; }
        .row .facts span::after { content: none; } :is(.list, .manifest, .file) wbr { display: none; }
        .row .bytes { grid-column: 3; color: var(--quiet); text-align: right; font-variant-numeric: tabular-nums; }
        .row :is(.url, .file) a, .manifest { display: flex; overflow: hidden; white-space: nowrap; }
        .dir { flex: 0 1 auto; min-width: 1.5em; } .name { flex: 0 0 auto; max-width: calc(100% - 1.5em); }
        .row :is(.dir, .name), .manifest :is(.dir, .name) { overflow: hidden; text-overflow: ellipsis; }
        .row .url a { flex-direction: row; line-height: 23px; } .row .url .name { font-weight: 400; }
        .row .url .dir { font-size: inherit; }
        .row .url a:focus-visible { outline-offset: -2px; }
        .row.expired .url { text-decoration: line-through; }
        .row .show { flex-direction: row; align-items: center; width: 40px; height: 22px; padding: 0; border: 0; border-radius: 3px;
          background-size: 8px 8px; }
        .row .show:is(.broken, :not(.image))::before { content: attr(data-label); overflow: hidden; color: var(--quiet);
          font-size: 11px; }
        .row .show.broken::before { content: "!"; color: var(--warning); font-weight: 700; font-size: 14px; }
        .row .show.transparent { flex-direction: row; } .row .show.transparent img { width: 50%; height: 100%; padding: 2px; }
        @media (min-width: 60rem) {
          .row { grid-template-columns: 40px minmax(0, 5fr) minmax(0, 3fr) minmax(0, 2fr) 5rem 7.5rem 4.5rem; }
          .row :is(.file, .type, .pixels, .line) { display: block; }
          .row .file { grid-column: 3; } .row .type { grid-column: 4; } .row .bytes { grid-column: 5; }
          .row .pixels { grid-column: 6; text-align: right; } .row .line { grid-column: 7; text-align: right; }
          .row :is(.type, .pixels, .line) { color: var(--quiet); font-variant-numeric: tabular-nums; }
        }
        @media (min-width: 75rem) {
          .row { grid-template-columns: 40px minmax(0, 5fr) minmax(0, 3fr) minmax(0, 2fr) 5rem 7.5rem 4.5rem minmax(0, 2fr); }
          .row .chips { display: block; grid-column: 8; margin: 0 !important; }
          .row .chips span { padding: 0; background: none; color: var(--quiet); font-size: inherit; }
          .row .chips span + span::before { content: "· "; }
        }
        @media (max-width: 48rem) {
          body { --edge: 1rem; padding-block: .6rem; } h1 { font-size: 1.35rem; } header p { font-size: .875rem; line-height: 1.4; }
          header .totals { margin-top: 0; }
          .filter { margin-top: .5rem; padding-block: .25rem; gap: .25rem .35rem; }
          .filter input[type=search] { flex-basis: 55%; order: -2; } .filter output { order: -1; }
          .filter fieldset { order: -1; } .filter select { flex: 1 1 40%; }
          main:not(.list) h2 { margin-top: 1.1rem; } .card { width: 100%; } section > section { width: 100%; }
        }
        """
}

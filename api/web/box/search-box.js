// The search box for other sites: one script tag puts a button where it stands, which opens a search over this
// service as one types. It lives in a shadow root, loads nothing else, and keeps nothing.
(() => {
  const script = document.currentScript;
  const base = new URL(".", script.src);
  const { label = "Search", theme, into } = script.dataset;
  const mac = /Mac|iPhone|iPad/.test(navigator.platform);

  const make = (name, attributes = {}, ...children) => {
    const e = document.createElement(name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    e.append(...children);
    return e;
  };
  const button = make("button", { type: "button", "aria-haspopup": "dialog" }, make("span", {}, label),
    make("kbd", { "aria-hidden": "true" }, mac ? "⌘K" : "Ctrl K"));
  const input = make("input", {
    type: "search", role: "combobox", "aria-label": label, "aria-expanded": "false", "aria-controls": "list",
    "aria-autocomplete": "list", placeholder: label, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    enterkeyhint: "search", maxlength: "1000", dir: "auto",
  });
  const list = make("div", { id: "list", role: "listbox", "aria-label": label });
  const said = make("p", { role: "status" });
  const dialog = make("dialog", { "aria-label": label }, input, list, said);
  const host = make("div", { class: "almanac-search" });
  if (theme) host.style.colorScheme = theme;
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { all: initial; display: inline-block; color-scheme: inherit; direction: inherit;
      --paper: light-dark(#fff, #1a1e22); --ink: light-dark(#1d2125, #e7e5df); --soft: light-dark(#4d555e, #b1b8bf);
      --edge: light-dark(#878374, #727c86); --rule: light-dark(#e4e1d9, #2a3036);
      --accent: light-dark(#0b5f6b, #6cc3cd); --chosen: light-dark(#e3f0f1, #17343a); }
    * { box-sizing: border-box; font: 16px/1.45 system-ui, sans-serif; letter-spacing: normal; text-transform: none; }
    button { display: flex; align-items: center; gap: 24px; padding: 6px 11px; border: 1px solid var(--edge);
      border-radius: 6px; background: var(--paper); color: var(--soft); cursor: pointer; }
    kbd { font-size: 12px; border: 1px solid var(--rule); border-radius: 4px; padding: 2px 6px; }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
    dialog { width: min(640px, 100vw - 32px); max-height: min(608px, 100dvh - 64px); margin: 48px auto auto; padding: 0;
      border: 1px solid var(--edge); border-radius: 9px; background: var(--paper); color: var(--ink); overflow: hidden;
      box-shadow: 0 12px 40px rgb(0 0 0 / .3); }
    dialog[open] { display: flex; flex-direction: column; }
    dialog::backdrop { background: rgb(0 0 0 / .35); }
    input { width: 100%; padding: 14px 16px; border: 0; border-bottom: 1px solid var(--rule); background: none;
      color: inherit; font-size: 18px; outline: none; }
    input::placeholder { color: var(--soft); opacity: 1; }
    #list { overflow-y: auto; }
    a { display: block; padding: 9px 16px; color: inherit; text-decoration: none; overflow-wrap: anywhere; }
    a[aria-selected=true], a:hover { background: var(--chosen); }
    b { font-weight: 600; color: inherit; }
    small { display: block; text-align: match-parent; font-size: 13px; color: var(--soft); }
    p { margin: 0; padding: 8px 16px; font-size: 13px; color: var(--soft); }
    p:empty { display: none; }
    @media (forced-colors: active) { a[aria-selected=true] { outline: 2px solid Highlight; outline-offset: -2px; } }
  `);
  root.adoptedStyleSheets = [sheet];
  root.append(button, dialog);

  let active = -1, timer, request;
  const options = () => [...list.children];
  const select = (n) => {
    active = n;
    options().forEach((o, i) => {
      o.setAttribute("aria-selected", String(i === n));
      if (i === n) o.scrollIntoView({ block: "nearest" });
    });
    if (n >= 0) input.setAttribute("aria-activedescendant", options()[n].id);
    else input.removeAttribute("aria-activedescendant");
  };
  const all = (query) => new URL(`?q=${encodeURIComponent(query)}`, base).href;
  const option = (href, ...children) => make("a", { role: "option", tabindex: "-1", href }, ...children);
  const show = (found, message) => {
    list.replaceChildren(...found);
    options().forEach((o, i) => { o.id = `option-${i}`; });
    input.setAttribute("aria-expanded", String(found.length > 0));
    select(-1);
    said.textContent = message;
  };
  const ask = async (query) => {
    request = new AbortController();
    const { signal } = request;
    try {
      const address = new URL(`suggest?q=${encodeURIComponent(query)}`, base);
      const answer = await fetch(address, { signal, credentials: "omit" });
      if (answer.status === 429) return show([], "Too many searches: Enter shows the results, or wait a while");
      if (!answer.ok) return show([], "No suggestions: Enter shows the results");
      const [, titles, kinds, addresses] = await answer.json();
      if (signal.aborted) return;
      const found = titles.map((title, i) => option(addresses[i], make("b", { dir: "auto" }, title),
        make("small", { dir: "auto" }, kinds[i])));
      if (found.length) found.push(option(all(query), make("small", {}, "All results")));
      show(found, found.length ? "" : "Nothing found so far");
    } catch (error) {
      if (error.name !== "AbortError") show([], "No answer: are you offline?");
    }
  };

  const open = () => { if (!dialog.open) { dialog.showModal(); input.select(); } };
  button.addEventListener("click", open);
  dialog.addEventListener("click", (e) => { if (e.target === dialog) dialog.close(); }); // beside it
  input.addEventListener("input", () => {
    clearTimeout(timer);
    request?.abort();
    const query = input.value.trim();
    if (query) timer = setTimeout(ask, 150, query);
    else show([], "");
  });
  input.addEventListener("keydown", (e) => {
    const n = options().length;
    if ((e.key === "ArrowDown" || e.key === "ArrowUp") && n) {
      e.preventDefault();
      const step = e.key === "ArrowDown" ? 1 : active < 0 ? 0 : -1;
      select((active + step + n) % n);
    } else if (e.key === "Escape") { // which would empty the field first
      e.preventDefault();
      dialog.close();
    } else if (e.key === "Enter" && !e.isComposing && input.value.trim()) {
      e.preventDefault();
      if (active >= 0) options()[active].click();
      else location.assign(all(input.value.trim()));
    }
  });
  document.addEventListener("keydown", (e) => {
    const typing = e.composedPath()[0].closest?.("input, textarea, select, [contenteditable]");
    if ((e.key === "/" && !typing && !e.ctrlKey && !e.metaKey && !e.altKey)
      || (e.key.toLowerCase() === "k" && (e.ctrlKey || e.metaKey))) {
      e.preventDefault();
      open();
    }
  });

  const place = into && document.querySelector(into);
  if (place) place.append(host);
  else script.after(host);
})();

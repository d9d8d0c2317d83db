// What pages do with script: results as one types, a combobox on every page,
// recent searches that stay in the browser, times in the reader's zone.
const policy = window.trustedTypes?.createPolicy("almanac", { createHTML: (html) => html });
const html = (text) => (policy ? policy.createHTML(text) : text);
const store = {
  get(name) { try { return JSON.parse(localStorage.getItem(name)); } catch { return null; } },
  set(name, value) { try { localStorage.setItem(name, JSON.stringify(value)); } catch { /* private mode */ } },
};

// Times are written in UTC by the server; here they are in the reader's zone, in the same form.
const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const zones = new Intl.DateTimeFormat("en", { timeZoneName: "short" });
function times(root) {
  for (const t of root.querySelectorAll("time[data-moment], time[data-day]")) {
    const at = new Date(t.dateTime);
    if (isNaN(at)) continue;
    const two = (n) => String(n).padStart(2, "0");
    const day = `${at.getDate()} ${months[at.getMonth()]} ${at.getFullYear()}`;
    const zone = zones.formatToParts(at).find((p) => p.type === "timeZoneName").value;
    const moment = `${day}, ${two(at.getHours())}:${two(at.getMinutes())} ${zone}`;
    t.title = `${moment}${zone === "UTC" ? "" : `, ${at.toISOString().slice(11, 16)} UTC`}`;
    t.textContent = t.dataset.moment === undefined ? day : moment;
  }
}

// What an address names may be on a later page of a long text. What is on none of them
// is looked for in vain: the beginning is shown.
function seek() {
  const next = document.querySelector("a[data-continues]");
  let section = "";
  try { section = decodeURIComponent(location.hash.slice(1)); } catch { /* no name */ }
  if (!section || document.getElementById(section)) return;
  if (next) location.replace(next.href + location.hash);
  else if (location.search.includes("cursor=")) location.replace(location.origin + location.pathname);
}
addEventListener("hashchange", seek);
seek();

// The words by which a page was found are marked in it, once: the page of results
// leaves them here.
function keep(hit) {
  const a = hit.matches("a") ? hit : hit.querySelector("h2 a");
  const words = [...hit.querySelectorAll("mark")].map((m) => m.textContent.toLowerCase());
  store.set("almanac.found", { path: a.pathname, words: [...new Set(words)].slice(0, 12) });
}
function found() {
  const { path, words } = store.get("almanac.found") ?? {};
  if (path !== location.pathname || !words?.length || !window.Highlight) return;
  store.set("almanac.found", null);
  const ranges = [];
  for (const text of document.querySelectorAll("#main .text")) {
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    while (walker.nextNode() && ranges.length < 500) {
      const node = walker.currentNode;
      const lower = node.data.toLowerCase();
      if (lower.length !== node.data.length) continue;
      for (const word of words) {
        for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + word.length)) {
          const range = new Range();
          range.setStart(node, at);
          range.setEnd(node, at + word.length);
          ranges.push(range);
        }
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}
found();

// Recent searches: the latest eight, in this browser alone.
const recent = {
  off: () => store.get("almanac.recent.off") === true,
  list: () => (recent.off() ? [] : (store.get("almanac.recent") ?? []).filter((q) => typeof q === "string")),
  add(query) {
    query = query.trim();
    if (!query || recent.off()) return;
    store.set("almanac.recent", [query, ...recent.list().filter((q) => q !== query)].slice(0, 8));
  },
  switch() {
    store.set("almanac.recent.off", !recent.off());
    store.set("almanac.recent", []);
  },
};

const announcer = document.createElement("p");
announcer.className = "hidden";
announcer.setAttribute("role", "status");
document.body.append(announcer);
const announce = (text) => { announcer.textContent = text; };

// fetcher asks for a fragment a while after the last key; an answer that a newer
// question has overtaken is dropped.
function fetcher(wait, show) {
  let timer, request, wanted;
  return (address) => {
    if (address === wanted) return;
    wanted = address;
    clearTimeout(timer);
    request?.abort();
    if (!address) return;
    timer = setTimeout(async () => {
      request = new AbortController();
      try {
        const answer = await fetch(address, { signal: request.signal, headers: { Accept: "text/html" } });
        const text = await answer.text();
        if (wanted === address) show(answer.ok ? text : null, failure(answer));
      } catch (error) {
        if (error.name !== "AbortError" && wanted === address) show(null, "The server cannot be reached.");
      }
    }, wait);
  };
}

// failure says why there is no answer, and what to do.
function failure(answer) {
  if (answer.status !== 429) return "Results cannot be shown as you type just now: press Enter to search.";
  const minutes = Math.ceil((Number(answer.headers.get("Retry-After")) || 60) / 60);
  return "There were too many searches as you typed: press Enter to search. They are shown as you type again in "
    + `${minutes} ${minutes === 1 ? "minute" : "minutes"}.`;
}

// The combobox: suggestions below a search field.
function combobox(form) {
  const input = form.querySelector("input");
  const popup = document.createElement("div");
  popup.className = "popup";
  popup.hidden = true;
  const list = document.createElement("div");
  list.id = "suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  popup.append(list);
  form.append(popup);
  for (const [name, value] of Object.entries({
    role: "combobox", "aria-controls": list.id, "aria-expanded": "false", "aria-autocomplete": "list",
  })) {
    input.setAttribute(name, value);
  }
  const options = () => [...list.querySelectorAll("[role=option]")];
  let active = -1;

  function open(shown) {
    popup.hidden = !shown;
    input.setAttribute("aria-expanded", String(shown));
    if (!shown) select(-1);
  }
  function select(n) {
    const all = options();
    active = n;
    all.forEach((o, i) => {
      o.id ||= `suggestion-${i}`;
      o.setAttribute("aria-selected", String(i === n));
      if (i === n) o.scrollIntoView({ block: "nearest" });
    });
    if (all[n]) input.setAttribute("aria-activedescendant", all[n].id);
    else input.removeAttribute("aria-activedescendant");
  }
  function foot(label, button, act) {
    popup.querySelector(".label")?.remove();
    if (!label) return;
    const line = document.createElement("p");
    line.className = "label";
    line.append(label);
    popup.prepend(line);
    if (!button) return;
    const b = document.createElement("button");
    b.type = "button";
    b.textContent = button;
    b.addEventListener("click", act);
    line.append(b);
  }
  function showRecent() {
    list.replaceChildren(...recent.list().map((query) => {
      const a = document.createElement("a");
      a.setAttribute("role", "option");
      a.tabIndex = -1;
      a.href = `${form.action}?q=${encodeURIComponent(query)}`;
      a.textContent = query;
      a.dir = "auto";
      return a;
    }));
    foot("Recent, in this browser only", recent.off() ? "Remember searches" : "Forget and stop", () => {
      recent.switch();
      showRecent();
      input.focus();
    });
    select(-1);
    open(options().length > 0 || recent.off());
  }
  const ask = fetcher(120, (text, why) => {
    if (document.activeElement !== input) return;
    if (text === null) {
      list.replaceChildren();
      foot(why);
      open(true);
      announce(why);
      return;
    }
    list.innerHTML = html(text);
    foot();
    select(-1);
    const n = options().length;
    open(n > 0);
    announce(n ? `${n} suggestions` : "Nothing found so far");
  });
  const changed = () => {
    const query = input.value.trim();
    if (query) ask(`${form.dataset.live}?q=${encodeURIComponent(query)}`);
    else { ask(""); showRecent(); }
  };
  input.addEventListener("input", changed);
  input.addEventListener("focus", () => { if (!input.value.trim()) showRecent(); });
  input.addEventListener("blur", (e) => {
    if (popup.contains(e.relatedTarget)) return;
    setTimeout(() => { if (!popup.contains(document.activeElement)) open(false); }, 120);
  });
  input.addEventListener("keydown", (e) => {
    const all = options();
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      if (popup.hidden) { changed(); open(all.length > 0); }
      const step = e.key === "ArrowDown" ? 1 : active < 0 ? 0 : -1;
      if (all.length) select((active + step + all.length) % all.length);
    } else if (e.key === "Enter" && active >= 0 && all[active]) {
      e.preventDefault();
      recent.add(input.value);
      all[active].click();
    } else if (e.key === "Escape") {
      if (popup.hidden) input.blur();
      e.preventDefault();
      open(false);
    }
  });
  list.addEventListener("mousedown", (e) => e.preventDefault());
  list.addEventListener("click", (e) => {
    recent.add(input.value);
    const option = e.target.closest("[role=option]");
    if (option) keep(option);
  });
}

// The page of results: they change as one types, and the address with them.
function results(form) {
  const input = form.querySelector("input");
  const main = document.getElementById("main");
  const links = () => [...main.querySelectorAll(".hit h2 a")];
  let address = ""; // of what is asked for
  const show = (text, why) => {
    main.classList.remove("busy");
    main.querySelector(".notice.typing")?.remove();
    if (text === null) {
      const line = document.createElement("p");
      line.className = "notice typing";
      line.textContent = why;
      main.querySelector("#hits").prepend(line);
      announce(why);
      return;
    }
    main.innerHTML = html(text);
    history.replaceState(null, "", address);
    times(main);
    announce(main.querySelector(".said .right")?.firstChild?.textContent ?? "");
    document.title = document.title.replace(/^[^]*? · /, `${input.value.trim()} · `);
  };
  const ask = fetcher(120, show);
  input.setAttribute("aria-controls", "main");
  input.addEventListener("input", () => {
    const query = input.value.trim();
    if (!query) { ask(""); return; }
    const params = new URLSearchParams(location.search);
    params.set("q", query);
    params.delete("offset");
    address = `${form.action}?${params}`;
    main.classList.add("busy");
    ask(`${form.dataset.live.replace(/live$/, "results")}?${params}`);
  });
  // Arrows walk through the results, from the field and back to it.
  document.addEventListener("keydown", (e) => {
    const all = links();
    const at = all.indexOf(document.activeElement);
    if (at < 0 && document.activeElement !== input) return;
    if (e.key === "ArrowDown" && at + 1 < all.length) { e.preventDefault(); all[at + 1].focus(); }
    if (e.key === "ArrowUp" && at >= 0) { e.preventDefault(); (all[at - 1] ?? input).focus(); }
    if (e.key === "Escape") { e.preventDefault(); if (at >= 0) input.focus(); else input.blur(); }
  });
  const opened = (e) => {
    if (!e.target.closest(".hit a")) return;
    recent.add(input.value);
    keep(e.target.closest(".hit"));
  };
  main.addEventListener("click", opened);
  main.addEventListener("auxclick", opened);
}

// The section that one is in is seen in a masthead that scrolls.
for (const strip of document.querySelectorAll(".masthead nav, .tabs")) {
  const here = strip.querySelector("[aria-current]");
  if (here) strip.scrollLeft = here.offsetLeft - strip.offsetLeft - (strip.clientWidth - here.clientWidth) / 2;
}

const form = document.querySelector("form.field");
if (form) {
  const input = form.querySelector("input");
  if (document.querySelector("#results")) results(form);
  else combobox(form);
  form.addEventListener("submit", (e) => {
    if (!input.value.trim()) e.preventDefault();
    else recent.add(input.value);
  });
  document.addEventListener("keydown", (e) => {
    const typing = e.target.closest?.("input, textarea, select, [contenteditable]");
    const slash = e.key === "/" && !typing && !e.ctrlKey && !e.metaKey && !e.altKey;
    if (slash || (e.key.toLowerCase() === "k" && (e.ctrlKey || e.metaKey))) {
      e.preventDefault();
      input.focus();
      input.select();
    }
  });
}

// A proposal of the graph that is pointed at shows what it depends on, and what depends on it.
for (const graph of document.querySelectorAll(".graph")) {
  const near = (e) => {
    const key = e.target.closest("a")?.dataset.key;
    for (const edge of graph.querySelectorAll("path")) {
      edge.classList.toggle("near", key !== undefined && [edge.dataset.from, edge.dataset.to].includes(key));
    }
  };
  graph.addEventListener("pointerover", near);
  graph.addEventListener("focusin", near);
  graph.addEventListener("pointerleave", near);
}

// The calendar opens in a calendar program where there is one for it.
for (const a of document.querySelectorAll("a[data-subscribe]")) {
  const webcal = a.cloneNode();
  webcal.href = a.href.replace(/^https?:/, "webcal:");
  webcal.className = "";
  webcal.textContent = "open in a calendar program";
  a.after(" or ", webcal);
}

// What can be copied gets a button for it.
for (const pre of document.querySelectorAll(".same pre, .text pre, [data-copy] pre")) {
  if (!navigator.clipboard) break;
  const button = document.createElement("button");
  button.className = "copy";
  button.type = "button";
  button.textContent = "copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(pre.innerText);
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
  const code = document.createElement("div");
  code.className = "code";
  pre.replaceWith(code);
  code.append(pre, button);
}

times(document);
document.addEventListener("almanac:shown", (e) => times(e.target)); // by a script of the site's own

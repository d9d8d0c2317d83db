// What changes by itself is asked for again every two seconds while somebody looks.
const every = 2000;

// ask reads a page as a document: unlike innerHTML that is no sink of trusted types.
function ask(address) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.responseType = "document";
    request.open("GET", address);
    request.timeout = 10 * every;
    request.onloadend = () => resolve(request);
    request.send();
  });
}

// show replaces the sections that changed. The one where a button is pressed stays.
function show(root, answer) {
  for (const fresh of answer.querySelectorAll("section[id]")) {
    const shown = root.querySelector(`#${CSS.escape(fresh.id)}`);
    if (!shown || shown.querySelector(":active")) continue;
    for (const fold of fresh.querySelectorAll("details[id]")) {
      const was = shown.querySelector(`#${CSS.escape(fold.id)}`);
      if (was) fold.open = was.open;
    }
    const text = fresh.textContent + [...fresh.querySelectorAll("progress, button")].map((e) => e.outerHTML).join();
    if (shown.dataset.said === text) continue;
    const focused = shown.contains(document.activeElement) && document.activeElement.id;
    const next = document.importNode(fresh, true);
    next.dataset.said = text;
    shown.replaceWith(next);
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    next.dispatchEvent(new CustomEvent("almanac:shown", { bubbles: true }));
  }
}

for (const root of document.querySelectorAll("[data-live]:not(form)")) {
  const look = async () => {
    if (!document.hidden) {
      const request = await ask(root.dataset.live);
      if (request.responseURL && new URL(request.responseURL).pathname === "/login") location.reload();
      if (request.status === 200 && request.response) show(root, request.response);
    }
    setTimeout(look, every);
  };
  setTimeout(look, every);
}

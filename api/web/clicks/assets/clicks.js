// Reports which results were shown for a query and which was opened, for
// operators who switched that on: no cookie, nothing about who it was. What
// stands for two seconds counts as seen; results under a filter do not count.
const main = document.getElementById("main");
let seen, timer;

function current() {
  const params = new URLSearchParams(location.search);
  const query = params.get("q")?.trim();
  if (!query || [...params.keys()].length > 1) return undefined;
  const hits = [...document.querySelectorAll(".hit[data-record]")].slice(0, 20);
  return hits.length ? { query, shown: hits.map((h) => Number(h.dataset.record)) } : undefined;
}

function report(clicked) {
  clearTimeout(timer);
  if (!seen) return;
  const body = JSON.stringify({ ...seen, clicked });
  seen = undefined;
  navigator.sendBeacon("/clicks", new Blob([body], { type: "application/json" }));
}

function watch() {
  report(0);
  clearTimeout(timer);
  timer = setTimeout(() => { seen = current(); }, 2000);
}

function opened(event) {
  const hit = event.target.closest?.(".hit[data-record]");
  if (!hit || !event.target.closest("a")) return;
  seen = current();
  const clicked = seen ? seen.shown.indexOf(Number(hit.dataset.record)) + 1 : 0;
  if (clicked) report(clicked);
}

main.addEventListener("click", opened, true);
main.addEventListener("auxclick", opened, true);
new MutationObserver(watch).observe(main, { childList: true });
addEventListener("pagehide", () => report(0));
watch();

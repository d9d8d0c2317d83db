// Work by keys: what has data-key is pressed, opened or typed into by its key; j and k move through the rows, h and l
// to the other side, 0 to 3 grade, Enter opens, Esc leaves a field, ? says which keys a page has.
const grading = document.querySelector("form[data-judging]");
const typing = "input:not([type=radio]):not([type=checkbox]):not([type=range]), textarea, select";
const keys = document.getElementById("keys");
const focused = () => document.activeElement?.closest("[data-row]");

// step moves to another row, of the same list or of the one beside it.
function step(key) {
  const row = focused(), side = row?.closest(".col"), sides = [...document.querySelectorAll(".col")];
  let list = [...(side ?? document).querySelectorAll("[data-row]")];
  let at = row ? list.indexOf(row) + { j: 1, k: -1, h: 0, l: 0 }[key] : 0;
  if (row && "hl".includes(key)) {
    list = [...(sides[key === "h" ? 0 : sides.length - 1]?.querySelectorAll("[data-row]") ?? [])];
    at = Math.min(at, list.length - 1);
  }
  list[at]?.focus();
  return list.length > 0;
}

// Whoever speaks or types by accident switches keys off, all but the one that shows them.
const off = "almanac.keys.off";
const stored = (does) => { try { return does(localStorage); } catch { return null; } }; // which browsers may forbid
const on = () => stored((s) => s.getItem(off)) === null;
const switcher = keys?.querySelector("input");
if (switcher) switcher.checked = on();
switcher?.addEventListener("change", () => stored((s) => switcher.checked ? s.removeItem(off) : s.setItem(off, "1")));

// use presses a button or a link, opens a fold, and begins to type in a field.
function use(target) {
  const field = target.matches("summary") ? target.parentElement.querySelector("textarea, input:not([type=hidden])")
    : target.matches("input, textarea") ? target : null;
  if (!field) return target.click();
  const fold = field.closest("details");
  if (fold) fold.open = true;
  field.focus();
  if (field.matches("input:not([type=range])")) field.select();
}

// pressed does what a key asks for; false if it asks for nothing here.
function pressed(key) {
  const radio = grading?.querySelector(`input[name=grade][value="${CSS.escape(key)}"]`);
  const target = focused()?.querySelector(`[data-grade="${CSS.escape(key)}"]`)
    ?? document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (key === "?" && keys) keys.showModal();
  else if (radio) {
    radio.checked = true;
    grading.requestSubmit();
  } else if (target) use(target);
  else if (key === "Enter" && document.activeElement === focused()) focused()?.querySelector("a")?.click();
  else return key.length === 1 && "jkhl".includes(key) && step(key);
  return true;
}

document.addEventListener("keydown", (event) => {
  const back = grading && (event.ctrlKey || event.metaKey) && event.key === "z";
  if (event.key === "Escape" && event.target.closest(typing)) event.target.blur();
  if (keys?.open || event.target.closest(typing) || event.altKey || (event.ctrlKey || event.metaKey) && !back) return;
  if (event.repeat && !"jk".includes(event.key) || !on() && event.key !== "?") return;
  if (event.key === "Enter" && event.target !== focused()) return;
  if (pressed(back ? "u" : event.key)) event.preventDefault();
});

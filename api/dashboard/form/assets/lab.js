// The lab: another profile in the list of a side fills its text in, unless somebody has changed that. Weights that are
// drawn, and grades, are answered at once.
const lab = document.getElementById("lab");
for (const side of lab ? ["a", "b"] : []) {
  const list = lab.elements[side], text = lab.elements[`yaml-${side}`], was = lab.elements[`was-${side}`];
  list.addEventListener("change", async () => {
    const name = list.value;
    if (name === "edited" || text.value !== was.value) return;
    const answer = await fetch(`/lab/profile?${new URLSearchParams({ name })}`);
    if (!answer.ok) return;
    const profile = await answer.text();
    if (list.value === name && text.value === was.value) text.value = was.value = profile;
  });
}

// ask sends the form for one part of its page and shows it; what a newer question has overtaken is dropped.
const asked = {};
function ask(part, more = {}) {
  asked[part]?.abort();
  return new Promise((resolve) => {
    const request = asked[part] = new XMLHttpRequest();
    request.responseType = "document"; // unlike innerHTML no sink of trusted types
    request.open("POST", "/lab");
    request.onload = () => {
      const shown = document.getElementById(part);
      if (request.status === 200 && request.response && shown) {
        shown.replaceChildren(...[...request.response.body.childNodes].map((n) => document.importNode(n, true)));
      }
      resolve();
    };
    request.onerror = request.onabort = resolve;
    const form = new URLSearchParams(new FormData(lab));
    for (const [name, value] of Object.entries({ ...more, part })) form.set(name, value);
    request.send(form);
  });
}

const weights = document.getElementById("weights");
let waiting;
weights?.addEventListener("input", (event) => {
  event.target.nextElementSibling.value = Number(event.target.value).toFixed(3);
  clearTimeout(waiting);
  waiting = setTimeout(() => document.getElementById("results") && ask("results")
    .then(() => ask("worth", { measure: "1" })), 150);
});

const results = document.getElementById("results");
results?.addEventListener("click", async (event) => {
  const button = event.target.closest("button[name=grade]");
  if (!button) return;
  event.preventDefault();
  const row = button.closest("[data-row]").id, byKey = !button.matches(":focus");
  await ask("results", { grade: button.value });
  const again = document.getElementById(row);
  (byKey ? again : again?.querySelector(`[data-grade="${button.dataset.grade}"]`))?.focus();
});

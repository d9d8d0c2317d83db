// Fields that take a record have a list of names, kind:key with its title, for what is typed so far. Without this
// script they are fields of text.
const names = document.getElementById("names");
let asked, waiting;

function look(text) {
  asked?.abort();
  const request = asked = new XMLHttpRequest();
  request.responseType = "document"; // unlike innerHTML no sink of trusted types
  request.open("GET", `/lab/names?${new URLSearchParams({ q: text })}`);
  request.onload = () => {
    if (request.status !== 200 || !request.response) return;
    names.replaceChildren(...[...request.response.querySelectorAll("option")].map((o) => document.importNode(o, true)));
  };
  request.send();
}

for (const field of names ? document.querySelectorAll('input[list="names"]') : []) {
  field.addEventListener("input", (event) => {
    clearTimeout(waiting);
    if (!event.inputType || event.inputType === "insertReplacementText") return; // chosen from the list
    if (field.value.trim()) waiting = setTimeout(look, 150, field.value);
  });
}

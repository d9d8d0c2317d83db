// Each form asks this server: it fills the address, shows it as a curl line,
// and shows status and body of the answer. Without this script the browser
// itself sends the forms that it can.
const longest = 200000; // characters of a body that are shown

for (const form of document.querySelectorAll("form[data-path]")) {
  form.hidden = false;
  const curl = document.querySelector(".curl code");
  const output = form.querySelector("output");

  const address = () => {
    let path = form.dataset.path;
    const query = new URLSearchParams();
    for (const field of form.elements) {
      const value = field.value.trim();
      if (!field.name || value === "" || value === field.dataset.default) continue;
      if (field.dataset.in !== "path") query.append(field.name, value);
      else if (path.includes("{" + field.name + "...}")) {
        path = path.replace("{" + field.name + "...}", () => value.split("/").map(encodeURIComponent).join("/"));
      } else path = path.replace("{" + field.name + "}", () => encodeURIComponent(value));
    }
    return query.size ? path + "?" + query : path;
  };

  const show = (line, bad, body) => {
    const status = document.createElement("p");
    status.textContent = line;
    status.className = bad ? "bad" : "";
    output.replaceChildren(status);
    if (body) {
      const pre = document.createElement("pre");
      pre.tabIndex = 0;
      pre.textContent = body.length > longest ? body.slice(0, longest) + "\n… (shortened here)" : body;
      output.append(pre);
    }
    output.hidden = false;
  };

  form.addEventListener("input", () => {
    curl.textContent = "curl '" + location.origin + address().replaceAll("'", "%27") + "'";
  });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    show("…", false);
    const start = performance.now();
    try {
      const answer = await fetch(address(), { headers: { Accept: "application/json, */*;q=0.5" } });
      let body = await answer.text();
      if ((answer.headers.get("Content-Type") || "").startsWith("application/json")) {
        body = JSON.stringify(JSON.parse(body), null, 2);
      }
      const left = answer.headers.get("RateLimit-Remaining");
      const parts = [answer.status + " " + answer.statusText, Math.round(performance.now() - start) + " ms"];
      if (left !== null) parts.push(left + " calls left");
      show(parts.join(" · "), !answer.ok, body);
    } catch (error) {
      show("No answer: " + error.message, true);
    } finally {
      button.disabled = false;
    }
  });
}

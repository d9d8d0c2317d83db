// The lab: another profile in the list of a side fills its text in, unless somebody has changed that.
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

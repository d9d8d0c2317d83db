// Judging by keys: 0 to 3 grade, s skips, n is the next query, u and Ctrl-Z take back.
const grading = document.querySelector("form[data-judging]");
const typing = "input:not([type=radio]):not([type=checkbox]), textarea, select";
if (document.querySelector("[data-key]")) {
  document.addEventListener("keydown", (event) => {
    if (event.target.closest(typing) || event.altKey || event.shiftKey || event.repeat) return;
    const back = (event.ctrlKey || event.metaKey) && event.key === "z";
    if ((event.ctrlKey || event.metaKey) && !back) return;
    const radio = grading?.querySelector(`input[name=grade][value="${CSS.escape(event.key)}"]`);
    const target = back ? document.querySelector("[data-key=u]")
      : document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (radio) {
      radio.checked = true;
      grading.requestSubmit();
    } else if (target) {
      target.click();
    } else {
      return;
    }
    event.preventDefault();
  });
}

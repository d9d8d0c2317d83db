// While a job is under way the page looks again, unless somebody is about to do something on it.
const atWork = () => document.activeElement?.matches("input, select, textarea, button, summary");
if (document.querySelector("[data-running]")) {
  setInterval(() => { if (!document.hidden && !atWork()) location.reload(); }, 3000);
}

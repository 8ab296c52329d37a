// Holding the space bar to talk.
//
// Rule: if the focused element uses the space bar itself, the space bar keeps that meaning. On the talk button and
// on the rest of the page it is for talking.

const TAKES_SPACE = "input, textarea, select, button, a[href], summary, [contenteditable], [role=slider], [role=tab]";

export function holdSpace(act, root = document) {
  const hold = root.getElementById("hold");
  const means = (event) => event.code === "Space" && (event.target === hold || !event.target.closest?.(TAKES_SPACE));
  root.addEventListener("keydown", (event) => {
    if (!means(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (act.press(event.repeat)) event.preventDefault();
  });
  root.addEventListener("keyup", (event) => {
    if (event.code === "Space" && act.release()) event.preventDefault();
  });
  window.addEventListener("blur", () => act.release());
  document.addEventListener("visibilitychange", () => document.hidden && act.release());
}

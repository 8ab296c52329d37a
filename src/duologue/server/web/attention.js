// Is the user at the page? Typing, holding the mouse on it and watching it count.
//
// Rule: the page only tells the server; what follows from it is decided there.

const RECENT_MS = 60000; // an input counts this long
const LOOK_MS = 5000;
const INPUTS = ["keydown", "pointerdown", "pointermove", "wheel", "touchstart", "input"];

/** A hidden page is never watched. A visible one is if it has the focus, the mouse is on it, or it was used just now. */
export function isAttended({ isVisible, hasFocus, isMouseInside, sinceInputMs }) {
  return isVisible && (hasFocus || isMouseInside || sinceInputMs < RECENT_MS);
}

/** Calls `tell` with true or false, at first and whenever it changes. */
export function watchAttention(tell) {
  let isMouseInside = false;
  let inputAt = -Infinity;
  let told = null;
  const look = () => {
    const isVisible = document.visibilityState === "visible";
    const now = isAttended({ isVisible, hasFocus: document.hasFocus(), isMouseInside, sinceInputMs: performance.now() - inputAt });
    if (now !== told) tell((told = now));
  };
  const used = () => {
    inputAt = performance.now();
    look();
  };
  for (const name of INPUTS) document.addEventListener(name, used, { passive: true, capture: true });
  document.documentElement.addEventListener("mouseenter", () => ((isMouseInside = true), look()));
  document.documentElement.addEventListener("mouseleave", () => ((isMouseInside = false), look()));
  document.addEventListener("visibilitychange", look);
  window.addEventListener("focus", look);
  window.addEventListener("blur", look);
  setInterval(look, LOOK_MS);
  look();
}

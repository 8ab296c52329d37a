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

/** Calls `tell` with true or false, at first and whenever it changes. Returns a function that ends it. */
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
  const over = new AbortController();
  const { signal } = over;
  const { documentElement } = document;
  for (const name of INPUTS) document.addEventListener(name, used, { passive: true, capture: true, signal });
  documentElement.addEventListener("mouseenter", () => ((isMouseInside = true), look()), { signal });
  documentElement.addEventListener("mouseleave", () => ((isMouseInside = false), look()), { signal });
  document.addEventListener("visibilitychange", look, { signal });
  window.addEventListener("focus", look, { signal });
  window.addEventListener("blur", look, { signal });
  const looking = setInterval(look, LOOK_MS);
  look();
  return () => (over.abort(), clearInterval(looking));
}

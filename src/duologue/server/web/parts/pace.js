// Draws a part of the page again and again, but no more often than a person can see, because frames cost CPU time.
//
// Rule: nothing is drawn while the page is hidden, and nothing more often than once a frame.

export const MOVING_MS = 33; // movement at rest, such as that of a level
export const STILL_MS = 100; // with reduced motion

/** `draw` returns after how many milliseconds it wants to draw again: 0 for the next frame, null for not before it is
 * woken. Returns a function that wakes it. */
export function paced(draw) {
  let frame = 0;
  let timer = 0;
  const next = (now) => {
    frame = 0;
    if (document.hidden) return;
    const wait = draw(now);
    if (wait === 0) wake();
    else if (wait !== null && !frame) timer = setTimeout(wake, wait);
  };
  const wake = () => {
    clearTimeout(timer);
    frame ||= requestAnimationFrame(next);
  };
  document.addEventListener("visibilitychange", wake);
  return wake;
}

// The microphone's level as a bar, so that users see whether they are heard.
//
// Rule: the bar is drawn from the last frame at the screen's frame rate; the number for screen readers changes once a second.

const FLOOR_DB = -60;
const SAID_MS = 1000;

export function meter({ microphone, root = document }) {
  const element = root.getElementById("meter");
  const bar = element.firstElementChild;
  let shown = 0;
  let saidAt = 0;
  let running = false;
  const draw = (now) => {
    running = microphone.stream !== null && !document.hidden;
    const target = microphone.isOpen ? loudness(microphone.level) : 0;
    shown = target > shown ? target : shown + (target - shown) * 0.15;
    bar.style.setProperty("--level", shown.toFixed(3));
    if (now - saidAt > SAID_MS) {
      saidAt = now;
      element.setAttribute("aria-valuenow", String(Math.round(shown * 100)));
    }
    if (running) requestAnimationFrame(draw);
  };
  const wake = () => {
    if (!running) requestAnimationFrame(draw);
  };
  document.addEventListener("visibilitychange", wake);
  return wake;
}

/** The level from 0 to 1, on a decibel scale. */
export function loudness(level) {
  return level > 0 ? Math.max(0, Math.min(1, 1 - (20 * Math.log10(level)) / FLOOR_DB)) : 0;
}

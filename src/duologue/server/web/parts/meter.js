// The microphone's level as a bar, so that users see whether they are heard.
//
// Rule: the bar is drawn from the last frame, at half the screen's frame rate; the number for screen readers changes once a
// second.

import { MOVING_MS, paced, STILL_MS } from "./pace.js";

const FLOOR_DB = -60;
const SAID_MS = 1000;

export function meter({ microphone, root = document }) {
  const element = root.getElementById("meter");
  const bar = element.firstElementChild;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let shown = 0;
  let written = "";
  let saidAt = 0;
  let last = 0;
  return paced((now) => {
    const frames = Math.min(12, ((now - last) / 1000) * 60);
    last = now;
    const target = microphone.isOpen ? loudness(microphone.level) : 0;
    shown = target > shown ? target : shown + (target - shown) * (1 - 0.85 ** frames);
    const level = shown.toFixed(2);
    if (level !== written) bar.style.setProperty("--level", level);
    written = level;
    if (now - saidAt > SAID_MS) {
      saidAt = now;
      element.setAttribute("aria-valuenow", String(Math.round(shown * 100)));
    }
    if (microphone.stream === null) return null;
    return still.matches ? STILL_MS : MOVING_MS;
  });
}

/** The level from 0 to 1, on a decibel scale. */
export function loudness(level) {
  return level > 0 ? Math.max(0, Math.min(1, 1 - (20 * Math.log10(level)) / FLOOR_DB)) : 0;
}

// The status line: the server's label of the state, and a hint about what the user can do now.
//
// Rule: the label is set as soon as the message is received; `timings` records when the label was on screen.

import { isLive, isOn, isWatching } from "../model/model.js";
import { isRunning } from "../model/work.js";
import { watching } from "../store.js";
import { write } from "../dom.js";

const TIMINGS_MAX = 500;

export function status({ text, timings }) {
  const label = document.getElementById("state-label");
  const hint = document.getElementById("state-hint");
  const now = document.getElementById("now-label");
  let timed = null;
  return watching(
    ["state", "hearing", "wait", "work", "microphone", "conversation", "ended", "ready", "connection"],
    (model) => {
      const { state } = model;
      const shown = labelOf(model, text);
      if (document.body.dataset.phase !== state.phase) document.body.dataset.phase = state.phase;
      document.body.dataset.on = String(isOn(model));
      write(label, shown);
      write(now, shown);
      write(hint, hintOf(model, text));
      if (state.receivedAt && state.receivedAt !== timed) {
        timed = state.receivedAt;
        whenShown(timings, state);
      }
    },
  );
}

function labelOf(model, text) {
  const { state, ready, connection } = model;
  if (isWatching(model) && !isLive(model)) return text("watchedOver");
  if (isLive(model) && connection.phase !== "open") return text(connection.phase === "lost" ? "lineLost" : "lineAway");
  return state.label || ready?.labels?.[state.phase] || (connection.phase === "open" ? "" : text("connecting"));
}

export function hintOf(model, text) {
  const { state, hearing, wait, work, microphone } = model;
  if (isWatching(model)) return watchersHint(model, text);
  if (!isOn(model)) return model.ready && model.connection.phase === "open" ? text("hintIdle") : "";
  if (model.connection.phase !== "open") return "";
  if (hearing && state.phase !== "paused") return text("hintHearing");
  switch (state.phase) {
    case "listening":
    case "interrupted":
      if (microphone.status !== "on") return text("hintWrite");
      if (microphone.mode === "push") return text("hintPush");
      return text(microphone.muted ? "hintMuted" : "hintListening");
    case "thinking":
    case "working":
      return waitOf(wait, work, text);
    case "speaking":
      return text("hintSpeaking");
    case "paused":
      return text("hintSuspended");
    default:
      return "";
  }
}

/** A watcher can do nothing: the hint only says what happens. */
function watchersHint(model, text) {
  if (!isLive(model) || model.connection.phase !== "open") return "";
  if (model.hearing) return text("callerSpeaks");
  return ["thinking", "working"].includes(model.state.phase) ? waitOf(model.wait, model.work, text) : "";
}

/** What the agent waits for, and its progress. */
function waitOf(wait, work, text) {
  const running = work.findLast((entry) => isRunning(entry) && entry.mode !== "dispatch");
  const parts = [
    running ? text("waitingFor", { tool: readable(running.tool) }) : "",
    wait ? [wait.label, wait.detail].filter(Boolean).join(": ") : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

export function readable(name) {
  return (name ?? "").replace(/[_-]+/g, " ");
}

/** Record when the state is on screen: after the next frame, or immediately on a hidden page, which has no frames. */
function whenShown(timings, { phase, receivedAt }) {
  performance.mark("duologue.state.received", { startTime: receivedAt, detail: phase });
  const done = () => {
    const shownAt = performance.now();
    performance.mark("duologue.state.shown", { startTime: shownAt, detail: phase });
    timings.push({ phase, receivedAt, shownAt });
    if (timings.length > TIMINGS_MAX) timings.shift();
  };
  if (document.hidden) done();
  else requestAnimationFrame(() => setTimeout(done));
}

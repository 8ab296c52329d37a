// The status line: what happens now, and a hint about what the user can do.
//
// The label is the server's label of the state, unless the user isn't heard or the connection is lost. Rule: "listening"
// is shown only while the server says that the user is heard. `timings` records when the label was on screen.

import { isLive, isOn, isWatching, phaseOf } from "../client/model/model.js";
import { isRunning } from "../client/model/work.js";
import { watching } from "../watching.js";
import { write } from "../dom.js";

const TIMINGS_MAX = 500;
const TICK_MS = 500;
const SLOW_MS = 4000;
const SOON_MS = 900;
const BETWEEN = "\u00a0· "; // a line never begins with the dot
// The phases in which the user may speak: there the label says whether they are heard.
const OPEN = new Set(["listening", "user_speaking", "interrupted"]);
const DEAF = { loading: "hearLoading", muted: "hearMuted", broken: "hearBroken", none: "yourTurn" };
const DEAF_HINTS = { loading: "hintLoading", muted: "hintMuted", broken: "hintBroken", none: "hintWrite" };
const TICKING = new Set(["starting", "thinking", "working", "reconnecting", "error"]);

export function status({ text, timings, root = document, body = document.body }) {
  const label = root.getElementById("state-label");
  const hint = root.getElementById("state-hint");
  const now = root.getElementById("now-label");
  let timed = null;
  let shownModel = null;
  setInterval(() => {
    if (shownModel && isLive(shownModel) && isTicking(shownModel)) write(hint, hintOf(shownModel, text));
  }, TICK_MS);
  return watching(
    ["state", "talking", "status", "wait", "work", "microphone", "conversation", "ended", "ready", "connection"],
    (model) => {
      const { state } = model;
      const shown = labelOf(model, text);
      shownModel = model;
      const phase = phaseOf(model);
      if (body.dataset.phase !== phase) body.dataset.phase = phase;
      body.dataset.on = String(isOn(model));
      body.dataset.hearing = isLive(model) ? model.status.hearing : "on";
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

function isTicking({ state, connection }) {
  return TICKING.has(state.phase) || connection.phase === "waiting";
}

export function labelOf(model, text) {
  const { state, ready, connection } = model;
  if (isWatching(model) && !isLive(model)) return text("watchedOver");
  if (isLive(model) && connection.phase !== "open") return text(connection.phase === "lost" ? "lineLost" : "lineAway");
  if (isLive(model) && isDeaf(model) && !(isWatching(model) && model.status.hearing === "none")) return text(DEAF[model.status.hearing]);
  if (isOn(model) && state.phase === "listening" && waitsForButton(model)) return text("yourTurn");
  if (phaseOf(model) !== state.phase) return ready?.labels?.[phaseOf(model)] ?? "";
  return state.label || ready?.labels?.[state.phase] || (connection.phase === "open" ? "" : text("connecting"));
}

/** Could the user speak now, but isn't heard? */
export function isDeaf({ state, status: { hearing } }) {
  return OPEN.has(state.phase) && hearing in DEAF;
}

function waitsForButton({ microphone }) {
  return microphone.status === "on" && microphone.mode === "push" && !microphone.pressed;
}

export function hintOf(model, text) {
  const { state, talking, microphone, connection } = model;
  if (isWatching(model)) return watchersHint(model, text);
  if (!isOn(model)) return model.ready && connection.phase === "open" ? text("hintIdle") : "";
  if (connection.phase === "waiting" && connection.attempt) {
    return [text("attempt", { n: connection.attempt }), dueIn(connection, text)].filter(Boolean).join(BETWEEN);
  }
  if (connection.phase !== "open") return "";
  if (isDeaf(model)) return text(DEAF_HINTS[model.status.hearing]);
  if (talking && state.phase !== "paused") return text("hintHearing");
  switch (state.phase) {
    case "starting":
      return model.status.hearing === "loading" ? text("hintLoading") : slowOf(model, text);
    case "error":
      return model.status.why === "fault" ? dueIn(model.status, text, "goesOn") : "";
    case "listening":
    case "interrupted":
      return text(microphone.mode === "push" ? "hintPush" : "hintListening");
    case "thinking":
    case "working":
      return waitOf(model, text);
    case "reconnecting":
      return attemptOf(model, text);
    case "speaking":
      return speakingHint(model, text);
    case "paused":
      return text("hintSuspended");
    default:
      return "";
  }
}

function speakingHint({ status: { hearing } }, text) {
  if (hearing === "on") return text("hintSpeaking");
  return hearing === "none" ? "" : text(DEAF_HINTS[hearing]);
}

/** A watcher can do nothing: the hint only says what happens. */
function watchersHint(model, text) {
  if (!isLive(model) || model.connection.phase !== "open") return "";
  if (model.talking) return text("callerSpeaks");
  if (model.state.phase === "reconnecting") return attemptOf(model, text);
  return ["thinking", "working"].includes(model.state.phase) ? waitOf(model, text) : "";
}

/** Why the user waits: for which tool and how far it is, for which retry, or for a slow answer. */
function waitOf(model, text) {
  const { wait, work, status: now } = model;
  const running = work.findLast((entry) => isRunning(entry) && entry.mode !== "dispatch");
  const parts = [
    running ? text("waitingFor", { tool: readable(running.tool) }) : "",
    running ? ranFor(running, text) : "",
    wait ? howFar(wait, running, model.state) : "",
    now.why === "retry" ? text("retryOf", { n: now.attempt, all: now.attemptsMax }) : "",
    now.why === "rate_limit" ? text("rateLimit", { n: now.attempt, all: now.attemptsMax }) : "",
    dueIn(now, text),
    !running && !now.why ? slowOf(model, text) : "",
  ];
  return parts.filter(Boolean).join(BETWEEN);
}

/** The label of the wait, unless it is that of the state, and the newest progress. */
function howFar({ call, label, detail }, running, state) {
  const newest = running?.call === call ? running.text : "";
  return [label === state.label ? "" : label, newest || detail].filter(Boolean).join(": ");
}

/** How long the user has waited, if that is longer than usual. */
function slowOf({ state }, text) {
  const waitedMs = performance.now() - state.receivedAt;
  return waitedMs > SLOW_MS ? text("slow", { s: Math.round(waitedMs / 1000) }) : "";
}

/** How long this work has been running; empty for the first second. */
export function ranFor({ startedAt }, text) {
  const s = Math.floor((performance.now() - startedAt) / 1000);
  return s > 0 ? text("seconds", { s }) : "";
}

/** Which attempt to reconnect is running, or when the next one begins. */
function attemptOf({ status: now }, text) {
  if (now.why === "renewing") return text("renewing");
  if (now.why === "healing") return text("healing");
  if (!now.attempt) return "";
  return [text("attemptOf", { n: now.attempt, all: now.attemptsMax }), dueIn(now, text)].filter(Boolean).join(BETWEEN);
}

function dueIn({ dueAt }, text, key = "dueIn") {
  const leftMs = (dueAt ?? 0) - performance.now();
  return leftMs > SOON_MS ? text(key, { s: Math.ceil(leftMs / 1000) }) : "";
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

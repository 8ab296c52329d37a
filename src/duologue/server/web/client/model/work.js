// Tools and jobs: running, progress, questions, outcome.
//
// Rule: one entry for each call; ended calls stay for a while, and the oldest of them is removed first.

const KEPT_MAX = 6;
// Outcomes of a call whose job continues in the background.
const GOES_ON = new Set(["started", "needs_input"]);

export function withWork(work, payload, at) {
  const { event, call } = payload;
  const index = work.findIndex((entry) => entry.call === call);
  const old = work[index] ?? { call, tool: payload.tool, mode: payload.mode, startedAt: at - (payload.ranMs ?? 0), status: "running" };
  const entry = { ...old, ...changed(event, payload, at) };
  return trimmed(index < 0 ? [...work, entry] : work.with(index, entry));
}

export function withWait(work, { call, stage, label, detail }) {
  return work.map((entry) => (entry.call === call ? { ...entry, wait: { stage, label, detail } } : entry));
}

/** An answer was sent: the field disappears, the work continues. */
export function withAnswer(work, call) {
  return work.map((entry) => (entry.call === call ? { ...entry, status: "running", question: "" } : entry));
}

/** The conversation has ended, and with it all its work. */
export function withoutRunning(work) {
  return work.filter((entry) => entry.status === "ended");
}

export function isRunning(entry) {
  return entry.status !== "ended";
}

function changed(event, { tool, mode, text, fraction, question, outcome, durationMs }, at) {
  if (event === "progressed") return { text, fraction: fraction ?? null, silent: false };
  if (event === "asked") return { status: "asking", question, silent: false };
  if (event === "silent") return { silent: true };
  if (event === "ended" && GOES_ON.has(outcome)) return { mode: "dispatch", silent: false };
  if (event === "ended") return { status: "ended", outcome, durationMs, endedAt: at, question: "", silent: false };
  return { tool, mode, status: "running" };
}

function trimmed(work) {
  if (work.length <= KEPT_MAX) return work;
  const oldest = work.findIndex((entry) => entry.status === "ended");
  return oldest < 0 ? work : work.toSpliced(oldest, 1);
}

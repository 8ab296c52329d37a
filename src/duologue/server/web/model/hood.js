// The model of the debug view: rows, steps, decisions, and the step that the user looks at.
//
// Live steps and the steps of an opened journal are separate. Rule: this model contains no words of the conversation,
// except in tracebacks, which only `duologue dev` sends.

const MOMENTS_MAX = 20000;
const DECISIONS_MAX = 200;
const ANSWERS_MAX = 8;
const TRACEBACKS_MAX = 20;

export const EMPTY = {
  on: false,
  rows: {},
  regions: {},
  moments: [],
  seenAt: 0, // when the newest step arrived, by the page's clock
  decisions: [],
  answers: [], // stages of the last answers
  tracebacks: [], // {at, where, error, text} of failures of the developer's own code
  replay: null, // {name, moments, agrees, rows} of a journal from disk
  cursor: null, // index into the shown steps; null is live
  diagram: null, // a region, or null to follow the steps
};

export function withDebug(hood, { rows, regions, moments = [] }, receivedAt) {
  return { ...hood, rows: byId(rows), regions, moments: moments.slice(-MOMENTS_MAX), seenAt: receivedAt };
}

export function withMoment(hood, moment, receivedAt) {
  const moments = hood.moments.length >= MOMENTS_MAX ? hood.moments.slice(MOMENTS_MAX / 10) : hood.moments;
  return { ...hood, moments: [...moments, moment], seenAt: receivedAt };
}

export function withDecision(hood, decision) {
  return { ...hood, decisions: [...hood.decisions.slice(1 - DECISIONS_MAX), decision] };
}

export function withTraceback(hood, traceback) {
  return { ...hood, tracebacks: [...hood.tracebacks.slice(1 - TRACEBACKS_MAX), traceback] };
}

/** Adds the stages of an answer. The server may send them several times; they are added once. */
export function withStages(hood, stages) {
  if (!stages || !Object.values(stages).some((ms) => ms !== null)) return hood;
  const last = hood.answers.at(-1);
  if (last && Object.keys(stages).every((name) => last[name] === null || last[name] === stages[name])) {
    return { ...hood, answers: hood.answers.with(-1, stages) };
  }
  return { ...hood, answers: [...hood.answers.slice(1 - ANSWERS_MAX), stages] };
}

/** Removes all steps for a new conversation. An opened journal stays. */
export function withoutSteps(hood) {
  return { ...hood, moments: [], decisions: [], answers: [], tracebacks: [], cursor: hood.replay ? hood.cursor : null };
}

export function withReplay(hood, replay) {
  return { ...hood, replay: replay && { ...replay, rows: byId(replay.rows) }, cursor: replay ? 0 : null };
}

export function shownMoments(hood) {
  return hood.replay ? hood.replay.moments : hood.moments;
}

export function rowsOf(hood) {
  return hood.replay ? hood.replay.rows : hood.rows;
}

/** The step that the user looks at. */
export function shownIndex(hood) {
  const last = shownMoments(hood).length - 1;
  return hood.cursor === null ? last : Math.min(hood.cursor, last);
}

function byId(rows) {
  return Object.fromEntries(rows.map((row) => [row.id, row]));
}

// The model of a conversation as a client knows it, and the one function that changes it.
//
// Messages of the server are named `duologue.…`, those of the client itself `client.…`. Rule: `reduce` is pure: the
// same model and message always give the same model, and a message without news returns the model unchanged.

import { fromHistory, settled, withCaption, withTurn } from "./captions.js";
import { isRunning, withAnswer, withoutRunning, withWait, withWork } from "./work.js";

const NOTICES_MAX = 5;
const TRANSITIONS_MAX = 20;
const IDLE = { phase: "idle", previous: null, label: "", cause: "", at: 0, turn: 0, receivedAt: 0, lastError: null };

const STATUS = { hearing: "on", why: "", attempt: 0, attemptsMax: 0, dueAt: null, queued: [], sessionAt: 0 };

export function firstModel(given = {}) {
  return {
    connection: { phase: "connecting", attempt: 0 },
    ready: null,
    conversation: null,
    watched: 0, // operators who see our own conversation, if the server tells
    state: IDLE,
    transitions: [],
    talking: false, // the user's voice is heard
    status: STATUS,
    context: null, // what the next session will know: {summary, activeFiles}
    captions: [],
    speaker: "", // the name of an agent that has taken over
    cue: null, // what a cue says beside the voice of replies, and after how many captions: {cue, text, after}
    results: [], // of completed tasks: {turn, title, slots}
    unsent: [], // typed and not confirmed by the server: {id, conversation, text}
    dialogue: null,
    work: [],
    wait: null,
    notices: [],
    noticeCount: 0,
    metrics: null,
    ended: null,
    calls: null, // running on the server; null until the list is requested
    microphone: { status: "off", muted: false, mode: "hands-free", pressed: false },
    starting: false, // a conversation is requested, but hasn't started yet
    sound: "off",
    attended: true, // the user is at the page
    ...given,
  };
}

export function reduce(model, message) {
  const handle = HANDLERS[message.type];
  return handle ? handle(model, message.payload ?? {}, message.receivedAt ?? 0) : model;
}

/** Is a conversation running, our own or a watched one? */
export function isLive(model) {
  return model.conversation !== null && model.ended === null;
}

/** Is our own conversation running, so that the user can talk and end it? */
export function isOn(model) {
  return isLive(model) && !isWatching(model);
}

/** The phase to show. A conversation that runs and is still idle is being started: its server opens what it needs. */
export function phaseOf(model) {
  return isOn(model) && model.state.phase === "idle" ? "starting" : model.state.phase;
}

/** Is the conversation on the screen a watched one? */
export function isWatching(model) {
  return Boolean(model.conversation?.watching);
}

/** The messages of this conversation that the server hasn't confirmed. */
export function unsentOf({ unsent, conversation }) {
  return unsent.filter((message) => message.conversation === conversation?.conversation);
}

/** The unconfirmed messages as captions, without those that are among the server's captions already. */
export function unsentLines(model) {
  const heard = new Set(model.captions.filter(({ role }) => role === "user").map(({ text }) => text));
  const missing = unsentOf(model).filter(({ text }) => !heard.has(text));
  return missing.map(({ id, text }) => ({ id, role: "user", text, unheard: "", final: true, unsent: true }));
}

const NOTHING = { captions: [], speaker: "", cue: null, results: [], dialogue: null, work: [], wait: null, metrics: null, context: null, transitions: [] };

const HANDLERS = {
  "duologue.ready": (model, payload) => ({
    ...model,
    ready: payload,
    state: { ...model.state, label: model.state.label || payload.labels.idle },
  }),
  "duologue.conversation": (model, payload) => ({
    ...model,
    conversation: payload,
    watched: 0,
    starting: false,
    ended: null,
    unsent: payload.resumed ? model.unsent : [],
    ...(payload.resumed && !payload.watching ? {} : { ...NOTHING, notices: [] }),
  }),
  "duologue.watched": (model, { operators }) => ({ ...model, watched: operators }),
  "duologue.history": (model, { items }) => ({ ...model, captions: fromHistory(items) }),
  "duologue.state": (model, payload, receivedAt) => withState(model, payload, receivedAt),
  "duologue.hearing": (model, { on }) => (model.talking === on ? model : { ...model, talking: on }),
  "duologue.status": (model, { inMs, ...payload }, receivedAt) => ({
    ...model,
    status: { ...payload, dueAt: typeof inMs === "number" ? receivedAt + inMs : null },
    notices: payload.hearing === "on" ? without(model.notices, ["problem_ears"]) : model.notices,
  }),
  "duologue.context": (model, payload) => ({ ...model, context: payload }),
  "duologue.turn": (model, payload) => ({ ...model, captions: withTurn(model.captions, payload) }),
  "duologue.caption": (model, payload) => ({
    ...model,
    captions: withCaption(model.captions, payload, model.speaker),
    cue: payload.role === "assistant" ? null : model.cue,
  }),
  "duologue.agent": (model, { name }) => ({ ...model, speaker: name }),
  "duologue.cue": (model, payload) => ({ ...model, cue: cueAfter(model, payload) }),
  "duologue.typed": (model, { id }) => ({ ...model, unsent: model.unsent.filter((message) => message.id !== id) }),
  "duologue.dialogue": (model, payload) => ({ ...model, dialogue: payload.flow === null ? null : payload }),
  "duologue.results": (model, { results }) => ({ ...model, results }),
  "duologue.work": (model, payload, receivedAt) => {
    const work = withWork(model.work, payload, receivedAt);
    return { ...model, work, wait: work.some(isRunning) ? model.wait : null };
  },
  "duologue.wait": (model, payload) => ({ ...model, wait: payload, work: withWait(model.work, payload) }),
  "duologue.notification": (model, payload) => withNotice(model, payload),
  "duologue.metrics": (model, payload) => ({ ...model, metrics: payload }),
  "duologue.ended": (model, payload) => ({
    ...model,
    ended: payload,
    talking: false,
    status: STATUS,
    cue: model.cue?.cue === "ended" ? model.cue : null,
    wait: null,
    captions: [...settled(model.captions), ...unsentLines(model)], // unsent messages stay readable
    unsent: isWatching(model) ? model.unsent : [],
    work: withoutRunning(model.work),
    dialogue: model.dialogue && closed(model.dialogue),
    state: { ...IDLE, previous: model.state.phase, label: model.ready?.labels.idle ?? "", at: model.state.at },
  }),
  "duologue.error": (model, { code, message, id }) => {
    const unsent = id ? model.unsent.filter((one) => one.id !== id) : model.unsent; // refused: it isn't sent again
    return withNotice({ ...model, unsent, starting: false }, { level: "error", code, message });
  },
  "duologue.calls": (model, { calls }) => ({ ...model, calls }),

  "client.connection": (model, payload) => ({
    ...model,
    connection: payload,
    starting: false,
    talking: payload.phase === "open" ? model.talking : false,
  }),
  "client.typed": (model, message) => ({ ...model, unsent: [...model.unsent, message] }),
  "client.starting": (model) => ({ ...model, starting: true }),
  "client.forgotten": (model) => {
    const over = reduce(model, { type: "duologue.ended", payload: { reason: "gone", canRestart: true } });
    return model.conversation ? { ...over, conversation: null } : { ...model, conversation: null };
  },
  "client.unwatched": (model) => ({
    ...model,
    ...NOTHING,
    conversation: null,
    watched: 0,
    ended: null,
    talking: false,
    status: STATUS,
    notices: [],
    state: { ...IDLE, label: model.ready?.labels.idle ?? "" },
  }),
  "client.microphone": (model, payload) => ({ ...model, microphone: { ...model.microphone, ...payload } }),
  "client.sound": (model, { status }) => (model.sound === status ? model : { ...model, sound: status }),
  "client.attention": (model, { attended }) => (model.attended === attended ? model : { ...model, attended }),
  "client.notice": (model, payload) => withNotice(model, payload),
  "client.dismissed": (model, { id }) => ({ ...model, notices: model.notices.filter((notice) => notice.id !== id) }),
  "client.answered": (model, { call }) => ({ ...model, work: withAnswer(model.work, call) }),
};

function withState(model, payload, receivedAt) {
  const { phase, previousPhase, localizedLabel, cause, at, since, turnId, metadata = {} } = payload;
  const moved = phase !== model.state.phase;
  const shownSince = moved ? receivedAt : model.state.receivedAt;
  const next = { phase, previous: previousPhase, label: localizedLabel, cause, at, since, turn: turnId, ...metadata, receivedAt: shownSince };
  const waits = phase === "thinking" || phase === "working";
  return {
    ...model,
    state: next,
    transitions: moved ? [...model.transitions.slice(1 - TRANSITIONS_MAX), { from: model.state.phase, to: phase, cause, at }] : model.transitions,
    wait: waits ? model.wait : null,
    notices: moved && model.state.phase === "error" ? model.notices.filter(({ actions }) => !actions?.some((action) => action === "retry" || action === "dismiss")) : model.notices,
  };
}

// Cues that only say that the wait goes on: silenced, they are over. What the others tell stays readable.
const PASSING = new Set(["sound", "words", "presence"]);

function cueAfter({ cue, captions }, { action, cue: kind, text }) {
  if (action === "play") return text ? { cue: kind, text, after: captions.length } : cue;
  return cue && PASSING.has(cue.cue) ? null : cue;
}

/** No question is open any more; the answers stay. */
function closed(dialogue) {
  return { ...dialogue, question: null, slots: dialogue.slots.map((slot) => (slot.state === "asked" ? { ...slot, state: "empty" } : slot)) };
}

// A notice, and the earlier notices that are no longer so because of it.
const SOLVES = { saved_again: ["unsaved"], restored: ["not_restored"], recovered: ["problem_voice", "stalled"] };

function without(notices, codes) {
  return notices.some(({ code }) => codes.includes(code)) ? notices.filter(({ code }) => !codes.includes(code)) : notices;
}

/** A new notice replaces an earlier one with the same code, and those that are no longer so. */
function withNotice(model, { level = "info", code, message, actions = [], fatal = false }) {
  const id = model.noticeCount + 1;
  const others = without(model.notices, SOLVES[code] ?? []).filter((notice) => notice.code !== code || notice.message !== message);
  return {
    ...model,
    noticeCount: id,
    notices: [...others.slice(1 - NOTICES_MAX), { id, level, code, message, actions, fatal }],
  };
}

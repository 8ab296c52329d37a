// Connects the parts of the page: store, socket, sound, views. Everything else is in its own module.

import { createActions } from "./actions.js";
import { watchAttention } from "./attention.js";
import { hood } from "./hood/hood.js";
import { holdSpace } from "./keys.js";
import { Microphone } from "./microphone.js";
import { conditionOf } from "./model/microphone.js";
import { firstModel, isOn, isWatching, reduce } from "./model/model.js";
import { announcer } from "./parts/announcer.js";
import { captions } from "./parts/captions.js";
import { composer } from "./parts/composer.js";
import { connection } from "./parts/connection.js";
import { controls } from "./parts/controls.js";
import { heading } from "./parts/heading.js";
import { meter } from "./parts/meter.js";
import { notices } from "./parts/notices.js";
import { orb } from "./parts/orb.js";
import { status } from "./parts/status.js";
import { suggestions } from "./parts/suggestions.js";
import { task } from "./parts/task.js";
import { watchBanner } from "./parts/watching.js";
import { work } from "./parts/work.js";
import { Player } from "./player.js";
import { accessToken, keepConversation, keepUnsent, kept, keptConversation, keptUnsent, seatId, sharedConversation, wasMuted } from "./seat.js";
import { Socket } from "./socket.js";
import { resumeOnGesture, Sound } from "./sound.js";
import { createStore } from "./store.js";
import { chosenLanguage, textsIn, textsOf, translate } from "./texts.js";
import { theme } from "./theme.js";
import { watchedCall, watchersSeat } from "./watched.js";

const RESUME_MS = 4000;
const RECEIPTS_MAX = 4; // as many as hello may have
const SEEN_MS = 60000; // the server is told so often that the user is at the page
const SHARED_MS = 300; // the server confirms at once what another tab had, or it no longer has it

const language = chosenLanguage();
const text = textsIn(language, await textsOf(language));
document.documentElement.lang = language;
translate(document, text);

const mode = kept("mode") === "push" ? "push" : "hands-free";
const microphoneAtFirst = { status: "off", muted: wasMuted(), mode, pressed: false };
const store = createStore(reduce, firstModel({ microphone: microphoneAtFirst, unsent: keptUnsent() }));
const timings = [];

const sound = new Sound({ changed: (state) => act.tell("sound", { status: state }) });
const player = new Player({ sound, send: (type, payload) => socket.send(type, payload) });
const microphone = new Microphone({
  sound,
  send: (frame) => socket.sendFrame(frame),
  changed: (state) => act.tell("microphone", { status: state }),
});
accessToken();
const socket = new Socket({ hello, message: receive, voice: (frame) => player.receive(frame) });
const act = createActions({ store, socket, player, microphone, text });

const shared = { text, language, act, store, timings, sound, player, microphone };
for (const part of [watchBanner, heading, status, controls, captions, suggestions, announcer, composer, connection, notices, task, work, orb, meter, hood]) {
  store.subscribe(part(shared));
}
store.subscribe(({ microphone: { mode: way, muted, pressed, status: state }, ...model }) => {
  microphone.gate(isOn(model) && state === "on" && (pressed || (way === "hands-free" && !muted)) && model.state.phase !== "paused");
});
keepTold((model) => conditionOf(model.microphone), (state) => socket.send("microphone", { state }));
keepTold((model) => model.attended, (here) => socket.send("attention", { here }));
setInterval(() => {
  const { model } = store;
  if (isOn(model) && model.connection.phase === "open" && model.attended) socket.send("attention", { here: true });
}, SEEN_MS);
store.subscribe((model, before) => {
  if (model.unsent !== before.unsent) keepUnsent(model.unsent);
});
theme(text);
holdSpace(act);
watchAttention((attended) => act.tell("attention", { attended }));
resumeOnGesture(sound);

if (new URL(location.href).searchParams.has("debug")) act.view("hood");
let reloaded = keptConversation()?.played ?? null; // the playback position before a reload
let receipts = keptConversation()?.receipts ?? []; // of the newest answers that the server could not save in time
if (reloaded) player.restore(reloaded);
socket.connect();

/** Tell the server a fact of this page at the start of a conversation, after a reconnect and whenever it changes. */
function keepTold(factOf, tell) {
  let told = null; // what the server knows
  store.subscribe((model) => {
    const fact = isOn(model) && model.connection.phase === "open" ? factOf(model) : null;
    if (fact === told) return;
    told = fact;
    if (fact !== null) tell(fact);
  });
}

function hello() {
  const token = accessToken();
  if (watchedCall()) return { seat: watchersSeat(), language, ...(token ? { token } : {}) };
  const own = keptConversation();
  const going = own ?? sharedConversation(); // of another tab, which isn't disturbed
  const played = reloaded ? { voice: reloaded.voice, ms: reloaded.ms, chunk: reloaded.chunk } : player.progress();
  return {
    seat: seatId(),
    language,
    audio: { rate_hz: 16000 },
    ...(token ? { token } : {}),
    ...(going ? { conversation: going.conversation, key: going.key } : {}),
    ...(own ? (played ? { played } : {}) : going ? { take_over: false } : {}),
    ...(own && receipts.length ? { receipts: receipts.map(({ receipt }) => receipt) } : {}),
  };
}

function receive(message) {
  const { type, payload } = message;
  const watching = isWatching(store.model);
  if (type === "duologue.play") player.command(payload);
  if (type === "duologue.cue" && payload.action === "stop") player.cues.stop();
  if (["duologue.conversation", "duologue.ended", "duologue.error"].includes(type)) act.settleStart();
  if (type === "duologue.conversation") begin(payload);
  if (type === "duologue.key") keepKey(payload);
  if (type === "duologue.receipt") keepReceipt(payload);
  if (type === "duologue.ended" && !watching) keepConversation(null);
  if (type === "duologue.ended" && !watching) microphone.close();
  if (type === "duologue.ended" && !watching) player.cues.end();
  store.dispatch(message);
  if (type === "duologue.conversation" && payload.resumed && !payload.watching) act.typeAgain();
  if (type === "duologue.ready") cameIn(payload);
  if (type === "duologue.error" && payload.code === "no_call") callIsGone();
}

function cameIn({ watchable }) {
  if (watchable && store.model.view === "hood") socket.send("calls");
  if (watchedCall()) socket.send("watch", { id: watchedCall() });
  else wentOn();
  if (!keptConversation() && !sharedConversation()) act.startAgain();
}

/** The call to watch has ended or doesn't exist. */
function callIsGone() {
  act.unwatch();
  act.tell("notice", { level: "warning", code: "no_call", message: text("callGone") });
}

function begin({ conversation, key, resumed, watching }) {
  clearTimeout(waiting);
  if (watching) {
    if (store.model.view === "hood") socket.send("debug", { on: true });
    return;
  }
  keepConversation({ conversation, key });
  if (!resumed) player.begin(0);
  if (!resumed) receipts = [];
  reloaded = null;
  if (store.model.view === "hood") socket.send("debug", { on: true });
  if (resumed && !store.model.conversation) reopen();
}

/** The server offers a new key. Once this is acknowledged, the old one opens nothing any more. */
function keepKey({ key }) {
  const going = keptConversation();
  if (!going || isWatching(store.model)) return;
  keepConversation({ ...going, key });
  socket.send("key", { key });
}

/** The newest receipt of each voice is kept, and presented in hello. */
function keepReceipt({ voice, receipt }) {
  receipts = [...receipts.filter((one) => one.voice !== voice), { voice, receipt }].slice(-RECEIPTS_MAX);
}

/** After a reload in mid-conversation: turn on sound and microphone again, if the browser allows it. */
function reopen() {
  const { agent, audio } = store.model.ready ?? {};
  if (agent?.speaks !== false) player.open(audio?.output_hz);
  if (agent?.hears !== false) microphone.open();
}

let waiting = 0;
/** Forget the stored conversation if the server doesn't confirm it in time: the server may no longer have it. */
function wentOn() {
  if (!keptConversation() && !sharedConversation()) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => act.forget(), keptConversation() ? RESUME_MS : SHARED_MS);
}

window.addEventListener("pagehide", () => {
  const going = keptConversation();
  if (going) keepConversation({ ...going, played: player.bookmark(), receipts });
});

window.duologue = {
  get model() {
    return store.model;
  },
  timings,
  level: () => ({ microphone: microphone.level, agent: player.level }),
  frames: () => microphone.frames,
  player,
};

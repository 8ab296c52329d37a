// One client of a server: its connection, its sound, what it knows of the conversation, and what a user can do.
//
// `model` is what the client knows; `subscribe` tells of every change, `on` of every message of the server. Rule: no
// command guesses what the server will do: the model changes when the server says so.

import { watchAttention } from "./attention.js";
import { createMemory, newId } from "./memory.js";
import { Microphone } from "./microphone.js";
import { conditionOf } from "./model/condition.js";
import { firstModel, isOn, isWatching, reduce as reduceConversation, unsentOf } from "./model/model.js";
import { Player } from "./player.js";
import { Socket } from "./socket.js";
import { resumeOnGesture, Sound } from "./sound.js";
import { createStore } from "./store.js";

export { isLive, isOn, isWatching, phaseOf, unsentLines } from "./model/model.js";
export { cueLine, resultText, withCue, withResults } from "./model/captions.js";
export { createMemory } from "./memory.js";

const RATE_HZ = 16000;
const RESUME_MS = 4000; // the server confirms within this time that it still has the conversation
const SHARED_MS = 300; // the same for the conversation of another tab
const RECEIPTS_MAX = 4; // as many as hello may have
const SEEN_MS = 60000; // the server is told so often that the user is at the page
const COMES = ["open", "waiting", "connecting"]; // phases of a connection after which a message may still be sent

export class Client {
  /** `token` is a token, a ticket, or a function that gets one for each connection. `reduce` and `first` extend the model.
   * `carrier` makes another way for the sound, which the server may use instead of the socket. */
  constructor({ url = globalThis.location?.href, token = "", language = "en", name = "duologue", memory = createMemory(name), watched = () => null, reduce = reduceConversation, first = {}, WebSocket = globalThis.WebSocket, worklets, sound = null, carrier = () => null } = {}) {
    this.language = language;
    this.token = token;
    this.memory = memory;
    this.watched = watched; // the call that an operator watches
    this.listeners = new Map();
    this.stops = []; // undo what `connect` began
    this.skip = () => {};
    const mode = memory.kept("mode") === "push" ? "push" : "hands-free";
    const microphone = { status: "off", muted: memory.wasMuted(), mode, pressed: false };
    this.store = createStore(reduce, firstModel({ microphone, unsent: memory.unsent(), ...first }));
    this.sound = sound ?? new Sound({ worklets, changed: (status) => this.tell("sound", { status }) });
    this.player = new Player({ sound: this.sound, send: (type, payload) => this.send(type, payload) });
    this.microphone = new Microphone({
      sound: this.sound,
      send: (frame) => (this.peer ? this.peer.sendFrame(frame) : this.sendAudio(frame)),
      changed: (status) => this.tell("microphone", { status }),
    });
    this.socket = new Socket({ url, WebSocket, hello: () => this.hello(), message: (message) => this.receive(message), voice: (frame) => this.hear(frame) });
    this.peer = carrier(this);
    this.reloaded = memory.conversation()?.played ?? null; // the playback position before a reload
    this.receipts = memory.conversation()?.receipts ?? []; // of the newest answers that the server could not save in time
    this.isStartPending = false; // a start was sent, and the server hasn't answered it
    if (this.reloaded) this.player.restore(this.reloaded);
    this.follow();
  }

  get model() {
    return this.store.model;
  }

  /** Calls `listener(model, before, message)` now and after every change. Returns a function that ends it. */
  subscribe(listener) {
    return this.store.subscribe(listener);
  }

  /** Calls `listener(payload)` for each message of this name, such as "caption", or "*" for all. Returns a function that ends it. */
  on(name, listener) {
    const all = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, all.add(listener));
    return () => all.delete(listener);
  }

  // -- Connection

  connect() {
    if (!this.stops.length) this.wake();
    if (isOn(this.model)) this.reopen(); // after `close`
    this.socket.connect();
  }

  /** Leave: the server keeps the conversation for a while, and `connect` goes on with it. */
  close() {
    this.stops.splice(0).forEach((stop) => stop());
    clearTimeout(this.resuming);
    this.socket.close();
    this.peer?.close();
    this.microphone.close();
    this.player.cues.end();
    this.sound.context?.suspend();
  }

  /** Connect again after a refusal, or after the client gave up. */
  reconnect() {
    this.socket.retry();
  }

  /** The same, and take the conversation from the other tab that has it. */
  takeOver() {
    this.socket.retry({ take_over: true });
  }

  // -- Commands

  /** Open sound and microphone, then begin a conversation. Call it in a click or a key press: browsers ask for that. */
  async start() {
    const { ready, starting } = this.model;
    if (starting) return;
    if (this.memory.shared() && !this.memory.conversation()) {
      this.socket.retry(); // another tab has started one since: the server says so
      return;
    }
    this.tell("starting");
    if (ready?.agent?.speaks !== false) this.player.open(ready?.audio?.output_hz);
    if (ready?.agent?.hears !== false) await Promise.race([this.openMicrophone(), new Promise((resolve) => (this.skip = resolve))]);
    this.isStartPending = this.send("start", { microphone: conditionOf(this.model.microphone) });
  }

  /** The connection broke before the start was answered, so there is no conversation: start again. */
  startAgain() {
    if (!this.isStartPending || this.memory.conversation() || this.memory.shared()) return;
    this.tell("starting");
    this.send("start", { microphone: conditionOf(this.model.microphone) });
  }

  /** Begin without a microphone while the browser still asks for it. */
  skipMicrophone() {
    this.tell("microphone", { status: "off" });
    this.skip();
  }

  openMicrophone() {
    return this.microphone.open();
  }

  /** Without a connection, the conversation ends here only, because the server can't be told. */
  end() {
    if (this.send("end")) return;
    this.microphone.close();
    this.forget();
  }

  /** A whole turn in writing. It stays in `model.unsent` until the server confirms it; without a connection it waits. */
  type(text) {
    if (!isOn(this.model) || !COMES.includes(this.model.connection.phase)) return false;
    const id = newId();
    this.tell("typed", { id, conversation: this.model.conversation.conversation, text });
    this.send("type", { id, text });
    return true;
  }

  finishTurn() {
    return this.send("send");
  }

  interrupt() {
    return this.send("interrupt");
  }

  /** Pause the conversation, or continue it. */
  pause() {
    return this.send(this.model.state.phase === "paused" ? "resume" : "suspend");
  }

  cancel(call) {
    return this.send("cancel", { call });
  }

  answer(call, text) {
    if (this.send("answer", { call, text })) this.tell("answered", { call });
  }

  mute(muted = !this.model.microphone.muted) {
    this.memory.keepMuted(muted);
    this.tell("microphone", { muted });
  }

  /** "hands-free" or "push": talk while `press` is held. */
  mode(mode) {
    this.release();
    this.memory.keep("mode", mode);
    this.memory.keepMuted(false);
    this.tell("microphone", { mode, muted: false });
  }

  /** Returns true if the user can talk: there is a conversation and a microphone. */
  press(repeated = false) {
    const { model } = this;
    if (!isOn(model) || model.microphone.status !== "on") return false;
    if (!repeated && !model.microphone.pressed) {
      this.send("press");
      this.tell("microphone", { pressed: true });
    }
    return true;
  }

  release() {
    if (!this.model.microphone.pressed) return false;
    this.tell("microphone", { pressed: false });
    this.send("release");
    return true;
  }

  /** Any message of docs/protocol.md. Returns false if there is no connection. */
  send(type, payload) {
    return this.socket.send(type, payload);
  }

  /** Sound that doesn't come from this client's microphone: an ArrayBuffer of 16-bit PCM at 16 kHz, 10 to 200 ms. */
  sendAudio(frame) {
    this.socket.sendFrame(frame);
  }

  // -- Watching, for operators

  watch(id) {
    this.send("watch", { id });
  }

  /** Back to one's own conversation, with one's own seat. */
  unwatch() {
    this.tell("unwatched");
    this.socket.connect();
  }

  // -- What comes in

  receive(message) {
    const { type, payload } = message;
    const watching = isWatching(this.model);
    this.peer?.take(message);
    if (type === "duologue.play") this.player.command(payload);
    if (type === "duologue.cue" && payload.action === "stop") this.player.cues.stop();
    if (["duologue.conversation", "duologue.ended", "duologue.error"].includes(type)) this.isStartPending = false;
    if (type === "duologue.conversation") this.begin(payload);
    if (type === "duologue.key") this.keepKey(payload);
    if (type === "duologue.receipt") this.keepReceipt(payload);
    this.store.dispatch(message);
    if (type === "duologue.ended" && !watching) this.over(); // after the end is known: closing the microphone tells the server nothing
    this.emit(type, payload);
    if (type === "duologue.conversation" && payload.resumed && !payload.watching) this.typeAgain();
    if (type === "duologue.ready") this.arrived();
  }

  hear(frame) {
    this.player.receive(frame);
    this.emit("voice", frame);
  }

  arrived() {
    const call = this.watched();
    if (call) this.watch(call);
    else this.expectConversation();
    this.startAgain();
  }

  begin({ conversation, key, resumed, watching }) {
    clearTimeout(this.resuming);
    if (watching) return;
    this.memory.keepConversation({ conversation, key });
    if (!resumed) this.player.forget();
    if (!resumed) this.receipts = [];
    this.reloaded = null;
    if (resumed && !this.model.conversation) this.reopen();
  }

  /** The server offers a new key. Once this is acknowledged, the old one opens nothing any more. */
  keepKey({ key }) {
    const going = this.memory.conversation();
    if (!going || isWatching(this.model)) return;
    this.memory.keepConversation({ ...going, key });
    this.send("key", { key });
  }

  /** Keep the newest receipt of each voice, for hello. */
  keepReceipt({ voice, receipt }) {
    this.receipts = [...this.receipts.filter((one) => one.voice !== voice), { voice, receipt }].slice(-RECEIPTS_MAX);
  }

  over() {
    this.memory.keepConversation(null);
    this.microphone.close();
    this.player.cues.end();
  }

  /** After a reload in mid-conversation: turn on sound and microphone again, if the browser allows it. */
  reopen() {
    const { agent, audio } = this.model.ready ?? {};
    if (agent?.speaks !== false) this.player.open(audio?.output_hz);
    if (agent?.hears !== false) this.microphone.open();
  }

  /** After a lost connection, send unconfirmed messages again: the server takes each message once. */
  typeAgain() {
    for (const { id, text } of unsentOf(this.model)) this.send("type", { id, text });
  }

  /** Forget the stored conversation if the server doesn't confirm it in time: the server may no longer have it. */
  expectConversation() {
    const own = this.memory.conversation();
    if (!own && !this.memory.shared()) return;
    clearTimeout(this.resuming);
    this.resuming = setTimeout(() => this.forget(), own ? RESUME_MS : SHARED_MS);
  }

  forget() {
    this.memory.keepConversation(null);
    this.tell("forgotten");
  }

  // -- What goes out by itself

  async hello() {
    const token = typeof this.token === "function" ? await this.token() : this.token;
    const base = { language: this.language, ...(token ? { token } : {}) };
    if (this.watched()) return { ...base, seat: (this.operator ??= `operator-${newId()}`) };
    const opus = await this.codec();
    const own = this.memory.conversation();
    const going = own ?? this.memory.shared(); // of another tab, which isn't disturbed
    const { reloaded } = this;
    const played = reloaded ? { voice: reloaded.voice, ms: reloaded.ms, chunk: reloaded.chunk } : (this.peer?.progress() ?? this.player.progress());
    return {
      ...base,
      seat: this.memory.seat(),
      audio: { rate_hz: RATE_HZ, ...opus?.offer() },
      ...(going ? { conversation: going.conversation, key: going.key } : {}),
      ...(own ? (played ? { played } : {}) : going ? { take_over: false } : {}),
      ...(own && this.receipts.length ? { receipts: this.receipts.map(({ receipt }) => receipt) } : {}),
    };
  }

  /** Opus, if this browser may have it: its module is loaded then. */
  codec() {
    return (this.opus ??= globalThis.AudioDecoder && import("./opus.js").then(({ openOpus }) => openOpus(this)).catch(() => null));
  }

  /** Keep the microphone's gate, the memory and the server in step with the model. */
  follow() {
    this.subscribe(({ microphone: { mode, muted, pressed, status }, ...model }) => {
      this.microphone.gate(isOn(model) && status === "on" && (pressed || (mode === "hands-free" && !muted)) && model.state.phase !== "paused");
      this.peer?.gate(this.microphone.isOpen);
      this.peer?.follow(isOn(model) && !isWatching(model) && model.connection.phase === "open", model.ready?.webrtc);
    });
    this.subscribe((model, before) => {
      if (model.unsent !== before.unsent) this.memory.keepUnsent(model.unsent);
    });
    this.waitForSound();
    this.keepTold((model) => conditionOf(model.microphone), (state) => this.send("microphone", { state }));
    this.keepTold((model) => model.attended, (here) => this.send("attention", { here }));
  }

  /** While the browser keeps the page silent, as during a phone call, the conversation pauses: nothing is said unheard. */
  waitForSound() {
    let alarm, held; // held: paused here, and not by the user
    const pause = () => {
      if (isOn(this.model) && this.model.state.phase !== "paused") held = this.send("suspend");
    };
    this.keepTold((model) => model.sound === "blocked" && !isWatching(model), (silent) => {
      clearTimeout(alarm);
      if (silent) alarm = setTimeout(pause, 3000);
      else if (held) held = !this.send("resume");
    });
  }

  /** Tell the server a fact of this client at the start of a conversation, after a reconnect and whenever it changes. */
  keepTold(factOf, tell) {
    let told = null; // what the server knows
    this.subscribe((model) => {
      const fact = isOn(model) && model.connection.phase === "open" ? factOf(model) : null;
      if (fact === told) return;
      told = fact;
      if (fact !== null) tell(fact);
    });
  }

  /** What a page does while the client is connected. */
  wake() {
    const seen = setInterval(() => {
      const { model } = this;
      if (isOn(model) && model.connection.phase === "open" && model.attended) this.send("attention", { here: true });
    }, SEEN_MS);
    this.stops.push(() => clearInterval(seen));
    if (!globalThis.document) return;
    const bookmark = () => {
      const going = this.memory.conversation();
      if (going) this.memory.keepConversation({ ...going, played: this.peer?.bookmark() ?? this.player.bookmark(), receipts: this.receipts });
    };
    window.addEventListener("pagehide", bookmark);
    this.stops.push(() => window.removeEventListener("pagehide", bookmark));
    this.stops.push(watchAttention((attended) => this.tell("attention", { attended })));
    this.stops.push(resumeOnGesture(this.sound));
  }

  tell(type, payload = {}) {
    this.store.dispatch({ type: `client.${type}`, payload });
  }

  emit(type, payload) {
    const name = type.replace(/^(duologue|client)\./, "");
    for (const listener of this.listeners.get(name) ?? []) listener(payload);
    for (const listener of this.listeners.get("*") ?? []) listener({ type: name, payload });
  }
}

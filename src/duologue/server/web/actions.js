// What a user can do: each action is a command to the server, a message to the store, or both.
//
// Rule: no action guesses what the server will do; the page shows a change when the server sends it.

import { conditionOf } from "./model/microphone.js";
import { isOn, unsentOf } from "./model/model.js";
import { keep, keepConversation, keepMuted, keepToken, keptConversation, newId, sharedConversation } from "./seat.js";
import { download, transcriptOf } from "./transcript.js";
import { keepWatched } from "./watched.js";

export function createActions({ store, socket, player, microphone, text }) {
  const tell = (type, payload = {}) => store.dispatch({ type: `panel.${type}`, payload });
  const send = (type, payload) => socket.send(type, payload);
  let skip = () => {};
  let isStartPending = false; // a start was sent, and the server hasn't answered it

  const act = {
    async start() {
      const { ready, starting } = store.model;
      if (starting) return;
      if (sharedConversation() && !keptConversation()) {
        socket.retry(); // another tab has started one since: the server says so
        return;
      }
      tell("starting");
      if (ready?.agent?.speaks !== false) player.open(ready?.audio?.output_hz);
      if (ready?.agent?.hears !== false) await Promise.race([act.openMicrophone(), new Promise((resolve) => (skip = resolve))]);
      isStartPending = send("start", { microphone: conditionOf(store.model.microphone) });
    },
    /** The server has answered the start: there is a conversation, or an error says why not. */
    settleStart() {
      isStartPending = false;
    },
    /** The connection broke before the start was answered, so there is no conversation: start again. */
    startAgain() {
      if (!isStartPending) return;
      tell("starting");
      send("start", { microphone: conditionOf(store.model.microphone) });
    },
    skipMicrophone() {
      tell("microphone", { status: "off" });
      skip();
    },
    openMicrophone: () => microphone.open(),
    /** Without a connection, the conversation ends on this page only, because the server can't be told. */
    end() {
      if (send("end")) return;
      microphone.close();
      act.forget();
    },
    finishTurn: () => send("send"),
    interrupt: () => send("interrupt"),
    pause: () => send(store.model.state.phase === "paused" ? "resume" : "suspend"),
    /** The message stays on the page until the server confirms it. Without a connection, the message waits. */
    type(words) {
      if (!isOn(store.model) || !["open", "waiting", "connecting"].includes(store.model.connection.phase)) return false;
      const id = newId();
      tell("typed", { id, conversation: store.model.conversation.conversation, text: words });
      send("type", { id, text: words });
      return true;
    },
    /** After a lost connection, send unconfirmed messages again: the server takes each message once. */
    typeAgain() {
      for (const { id, text: words } of unsentOf(store.model)) send("type", { id, text: words });
    },
    cancel: (call) => send("cancel", { call }),
    answer(call, words) {
      if (send("answer", { call, text: words })) tell("answered", { call });
    },
    mute() {
      const muted = !store.model.microphone.muted;
      keepMuted(muted);
      tell("microphone", { muted });
    },
    mode(mode) {
      act.release();
      keep("mode", mode);
      keepMuted(false);
      tell("microphone", { mode, muted: false });
    },
    /** Returns true if the user can talk: there is a conversation and a microphone. */
    press(repeated = false) {
      const { model } = store;
      if (!isOn(model) || model.microphone.status !== "on") return false;
      if (!repeated && !model.microphone.pressed) {
        send("press");
        tell("microphone", { pressed: true });
      }
      return true;
    },
    release() {
      if (!store.model.microphone.pressed) return false;
      tell("microphone", { pressed: false });
      send("release");
      return true;
    },
    /** An action of a notice: retry and dismiss are sent to the server, restart starts a new conversation. */
    settle({ id, code, actions }, action) {
      if (action === "restart") act.start();
      else if (action && actions.includes(action) && code !== undefined) send(action);
      tell("dismissed", { id });
    },
    reconnect: () => socket.retry(),
    takeOver: () => socket.retry({ take_over: true }),
    useToken(token) {
      keepToken(token);
      socket.retry();
    },
    saveTranscript: () => download("conversation.txt", transcriptOf(store.model, text)),
    view(view) {
      tell("view", { view });
      send("debug", { on: view === "hood" });
      if (store.model.ready?.watchable) send("calls", { on: view === "hood" });
    },
    watch(id) {
      keepWatched(id);
      send("watch", { id });
    },
    /** Back to the user's own page, with its own seat. */
    unwatch() {
      keepWatched(null);
      tell("unwatched");
      socket.connect();
      document.getElementById(store.model.view === "hood" ? "hood-toggle" : "stage").focus({ preventScroll: true });
    },
    forget() {
      keepConversation(null);
      tell("forgotten");
    },
    tell,
  };
  return act;
}

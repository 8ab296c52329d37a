// What a person can do: each is a command to the server, a message to the store, or both.
//
// Rule: nothing here guesses what the server will do; the page shows it when it is told.

import { isOn, unsentOf } from "./model/model.js";
import { keep, keepConversation, keepMuted, keepToken, newId } from "./seat.js";
import { download, transcriptOf } from "./transcript.js";
import { keepWatched } from "./watched.js";

export function createActions({ store, socket, player, microphone, text }) {
  const tell = (type, payload = {}) => store.dispatch({ type: `panel.${type}`, payload });
  const send = (type, payload) => socket.send(type, payload);
  let skip = () => {};

  const act = {
    async start() {
      const { ready, starting } = store.model;
      if (starting) return;
      tell("starting");
      if (ready?.agent?.speaks !== false) player.open(ready?.audio?.output_hz);
      if (ready?.agent?.hears !== false) await Promise.race([act.openMicrophone(), new Promise((resolve) => (skip = resolve))]);
      send("start");
    },
    skipMicrophone() {
      tell("microphone", { status: "off" });
      skip();
    },
    openMicrophone: () => microphone.open(),
    /** Without a line nobody can be told: then it is over here. */
    end() {
      if (send("end")) return;
      microphone.close();
      act.forget();
    },
    finishTurn: () => send("send"),
    interrupt: () => send("interrupt"),
    pause: () => send(store.model.state.phase === "paused" ? "resume" : "suspend"),
    /** It stays on the page until the server says that it is safe; without a line it waits for one. */
    type(words) {
      if (!isOn(store.model) || !["open", "waiting", "connecting"].includes(store.model.connection.phase)) return false;
      const id = newId();
      tell("typed", { id, conversation: store.model.conversation.conversation, text: words });
      send("type", { id, text: words });
      return true;
    },
    /** After a line that was lost nobody knows what came through: the server takes each message once. */
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
    /** True if the press meant talking: there is a conversation, and a microphone. */
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
    /** An action of a notice; the server is told about retry and dismiss, restart starts anew. */
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
    /** Back to a page of one's own, which has a seat of its own again. */
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

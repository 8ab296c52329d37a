// What a user of the panel can do: the commands of the client, and those of the page itself.
//
// Rule: no action guesses what the server will do; the page shows a change when the server sends it.

import { isLive } from "./client/model/model.js";
import { keepToken } from "./seat.js";
import { download, transcriptOf } from "./transcript.js";
import { keepWatched } from "./watched.js";

const COMMANDS = [
  "start", "skipMicrophone", "openMicrophone", "end", "finishTurn", "interrupt", "pause", "type", "cancel", "answer",
  "mute", "mode", "press", "release", "reconnect", "takeOver",
];

export function createActions({ client, text }) {
  const { store } = client;
  const tell = (type, payload = {}) => store.dispatch({ type: `panel.${type}`, payload });
  const commands = COMMANDS.map((name) => [name, (...given) => client[name](...given)]);

  const act = {
    ...Object.fromEntries(commands),
    /** An action of a notice: retry and dismiss are sent to the server, restart starts a new conversation. */
    settle({ id, code, actions }, action) {
      if (action === "restart") act.start();
      else if (action && actions.includes(action) && code !== undefined) client.send(action);
      client.tell("dismissed", { id });
    },
    notify: (notice) => client.tell("notice", notice),
    useToken(token) {
      keepToken(token);
      client.reconnect();
    },
    saveTranscript: () => download("conversation.txt", transcriptOf(store.model, text)),
    view(view) {
      tell("view", { view });
      if (isLive(store.model)) client.send("debug", { on: view === "hood" });
      if (store.model.ready?.watchable) client.send("calls", { on: view === "hood" });
    },
    watch(id) {
      keepWatched(id);
      client.watch(id);
    },
    /** Back to the user's own page, with its own seat. */
    unwatch() {
      keepWatched(null);
      client.unwatch();
      document.getElementById(store.model.view === "hood" ? "hood-toggle" : "stage").focus({ preventScroll: true });
    },
    tell,
  };
  return act;
}

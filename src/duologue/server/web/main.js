// Connects the parts of the page: the client, and the views that show what it knows. Everything else is in its own module.

import { createActions } from "./actions.js";
import { Client } from "./client/client.js";
import { hood } from "./hood/hood.js";
import { holdSpace } from "./keys.js";
import { PANEL, reduce } from "./model/model.js";
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
import { accessToken, memory } from "./seat.js";
import { chosenLanguage, textsIn, textsOf, translate } from "./texts.js";
import { theme } from "./theme.js";
import { watchedCall } from "./watched.js";
import { PeerSound } from "./webrtc.js";

const language = chosenLanguage();
const text = textsIn(language, await textsOf(language));
document.documentElement.lang = language;
translate(document, text);

accessToken();
const client = new Client({ token: accessToken, language, memory, watched: watchedCall, reduce, first: PANEL, carrier: (client) => new PeerSound(client) });
const { store, sound, player, microphone } = client;
const act = createActions({ client, text });
const timings = [];

const shared = { text, language, act, store, timings, sound, player, microphone };
for (const part of [watchBanner, heading, status, controls, captions, suggestions, announcer, composer, connection, notices, task, work, orb, meter, hood]) {
  store.subscribe(part(shared));
}
theme(text);
holdSpace(act);

client.on("conversation", () => {
  if (store.model.view === "hood") client.send("debug", { on: true });
});
client.on("ready", ({ watchable }) => {
  if (watchable && store.model.view === "hood") client.send("calls");
});
client.on("error", ({ code }) => {
  if (code !== "no_call") return; // the call to watch has ended or doesn't exist
  act.unwatch();
  act.notify({ level: "warning", code: "no_call", message: text("callGone") });
});

if (new URL(location.href).searchParams.has("debug")) act.view("hood");
client.connect();

window.duologue = {
  get model() {
    return store.model;
  },
  timings,
  level: () => ({ microphone: microphone.level, agent: player.level }),
  frames: () => microphone.frames,
  microphone,
  peer: client.peer,
  player,
};

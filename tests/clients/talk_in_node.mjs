// A conversation from node with the packed client: talks, loses its connection, goes on, ends. Prints what it saw as JSON.

import { Client } from "duologue-client";
import { ClockSound } from "duologue-client/headless";

const [url, token] = process.argv.slice(2);
const seen = { phases: [], captions: [], resumed: [], voice: 0, tokens: 0 };
const client = new Client({ url, sound: new ClockSound(), token: async () => ((seen.tokens += 1), token) });

const until = (name, holds) =>
  new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`never: ${name}: ${JSON.stringify(client.model.connection)}`)), 20000);
    const stop = client.subscribe((model) => {
      if (!holds(model)) return;
      clearTimeout(late);
      queueMicrotask(() => stop());
      resolve(model);
    });
  });

client.on("state", ({ phase }) => seen.phases.push(phase));
client.on("caption", ({ role, text, unheard, final }) => final && seen.captions.push([role, `${text}|${unheard}`]));
client.on("conversation", ({ resumed }) => seen.resumed.push(resumed));
client.on("voice", () => (seen.voice += 1));

client.connect();
await until("ready", (model) => model.ready && model.connection.phase === "open");
await client.start();
seen.microphone = client.model.microphone.status;
await until("listening", (model) => model.state.phase === "listening");
client.type("hello");
const answers = (count) => (model) => model.captions.filter(({ role, final }) => role === "assistant" && final).length >= count;
await until("an answer", answers(1));

client.socket.socket.close(); // as a network that breaks; this client tries again by itself
await until("a lost connection", (model) => model.connection.phase === "waiting");
seen.typedAway = client.type("are you there");
await until("a second answer", answers(2));
seen.unsent = client.model.unsent.length;

client.end();
await until("the end", (model) => model.ended !== null);
client.close();
console.log(JSON.stringify({ ...seen, closed: client.model.connection.phase }));

// The React hook in node: connects on mount, renders again with each change, and closes on unmount. Prints what it saw.

import { createElement } from "react";
import { act, create } from "react-test-renderer";
import { useDuologue } from "duologue-client/react";

globalThis.IS_REACT_ACT_ENVIRONMENT = true;
const [url] = process.argv.slice(2);
const shown = [];
let client = null;

function Talk() {
  const hook = useDuologue({ url });
  client = hook.client;
  const { connection, ready, state } = hook.model;
  shown.push(connection.phase);
  return createElement("p", null, connection.phase === "open" && ready ? `${ready.agent.name || "agent"}: ${state.label}` : connection.phase);
}

let root;
await act(async () => (root = create(createElement(Talk))));
const first = client;
const deadline = Date.now() + 20000;
while (!shown.includes("open") && Date.now() < deadline) await act(async () => new Promise((resolve) => setTimeout(resolve, 10)));
const text = root.toJSON().children.join("");
await act(async () => root.unmount());
console.log(JSON.stringify({ shown, text, same: first === client, closed: client.model.connection.phase }));

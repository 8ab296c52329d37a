// What one could say, as buttons, until the user has said something.
//
// Rule: a button sends its words as if the user had written them.

import { keyed, make, show } from "../dom.js";
import { isOn } from "../client/model/model.js";
import { watching } from "../watching.js";

export function suggestions({ act, root = document }) {
  const list = root.getElementById("suggestions");
  return watching(["captions", "unsent", "conversation", "ended", "ready", "connection", "state"], (model) => {
    const offered = model.ready?.agent?.suggestions ?? [];
    const isNew = !model.unsent.length && !model.captions.some(({ role }) => role === "user");
    const open = isOn(model) && isNew && model.connection.phase === "open" && !["starting", "error", "ending"].includes(model.state.phase);
    show(list, open && offered.length > 0);
    keyed(list, open ? offered : [], (words) => words, (words) => chip(words, act), () => {});
  });
}

function chip(words, act) {
  return make("li", {}, make("button.small", { type: "button", onclick: () => act.type(words) }, asSentence(words)));
}

/** With a capital letter at the beginning. */
export function asSentence(words) {
  return words.charAt(0).toLocaleUpperCase() + words.slice(1);
}

// The open task as a card: the question, and the slots that are filled so far.
//
// A completed task stays, with its results, until the next one begins. Rule: the card shows what the server sends about the task and decides nothing.

import { icon, keyed, make, show, write } from "../dom.js";
import { watching } from "../watching.js";
import { readable } from "./status.js";

export function task({ text }) {
  const card = document.getElementById("task");
  const title = make("h2", { id: "task-title" });
  const slots = make("dl.slots");
  const mark = make("span.task-done");
  card.append(make("div.task-head", {}, title, mark), slots);
  card.setAttribute("aria-labelledby", "task-title");
  return watching(["dialogue"], ({ dialogue }) => {
    show(card, dialogue !== null);
    if (!dialogue) return;
    const done = dialogue.state === "completed";
    card.dataset.done = String(done);
    write(title, dialogue.title || readable(dialogue.flow));
    mark.replaceChildren(...(done ? [icon("check"), text("done")] : []));
    keyed(slots, dialogue.slots, ({ name }) => name, () => created(), (element, slot) => update(element, slot, dialogue, text));
  });
}

function created() {
  return make("div.slot", {}, make("dt"), make("dd", {}, make("span.value"), make("span.slot-mark", { "aria-hidden": "true" })));
}

function update(element, { name, label, value, state }, { question }, text) {
  const shown = state === "filled" || state === "confirmed" ? state : name === question ? "asked" : state;
  const [term, data] = element.children;
  const [held, mark] = data.children;
  const isKnown = value !== null && value !== undefined && value !== "";
  write(term, label || readable(name));
  write(held, isKnown ? String(value) : text(shown === "asked" ? "asking" : "empty"));
  held.title = shown === "confirmed" ? text("confirmed") : "";
  if (element.dataset.state === shown && element.dataset.value === String(value)) return;
  element.dataset.state = shown;
  element.dataset.value = String(value);
  mark.replaceChildren(...(shown === "confirmed" || shown === "filled" ? [icon("check")] : []));
}

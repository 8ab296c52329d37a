// The list of running calls on all lines; each can be watched.
//
// Rule: the list is shown only if the server lets this page watch.

import { icon, keyed, make, show, write } from "../dom.js";
import { isOn, isWatching } from "../client/model/model.js";
import { timeOf } from "../parts/watching.js";
import { lookOf } from "./looks.js";

const LINES = { phone: "linePhone", browser: "lineBrowser" };
const ICONS = { phone: "phone", browser: "screen" };

export function callList({ text, act, language }) {
  const list = make("ul.calls");
  const none = make("p.quiet-line", {}, text("noCalls"));
  const busy = make("p.quiet-line", {}, text("endOwnFirst"));
  const element = make("section.panel.calls-panel", { "aria-labelledby": "calls-title" }, make("h3", { id: "calls-title" }, text("calls")), none, list, busy);
  return {
    element,
    render(model) {
      const calls = model.calls ?? [];
      const own = isOn(model);
      const watched = isWatching(model) ? model.conversation.conversation : null;
      show(element, Boolean(model.ready?.watchable) && model.calls !== null);
      show(none, !calls.length);
      show(busy, own && calls.some((call) => !call.own));
      keyed(list, calls, ({ id }) => id, (call) => created(call, text, act), (item, call) => update(item, call, { own, watched, labels: model.ready?.labels, text, language }));
    },
  };
}

function created({ id, line }, text, act) {
  const button = make("button.small", { type: "button" }, make("span"), make("span.unseen"));
  button.onclick = () => (button.getAttribute("aria-pressed") === "true" ? act.unwatch() : act.watch(id));
  return make("li.call", {}, icon(ICONS[line] ?? "hood"), make("span.call-name", {}, text(LINES[line] ?? "lineOther")), make("span.call-note"), make("span.leaf"), button);
}

function update(item, call, { own, watched, labels, text, language }) {
  const [, name, note, state, button] = item.children;
  const isWatched = call.id === watched;
  const told = [call.own ? text("ownCall") : call.agent, text("since", { time: timeOf(call.since, language) }), call.private ? text("privateCall") : ""];
  write(note, told.filter(Boolean).join(" · "));
  write(state, labels?.[call.phase] ?? call.phase);
  state.className = `leaf ${lookOf("phase", call.phase).hue}`;
  show(button, !call.own);
  button.disabled = own;
  button.setAttribute("aria-pressed", String(isWatched));
  write(button.children[0], text(isWatched ? "watchingNow" : "watch"));
  write(button.children[1], ` ${name.textContent}, ${text("since", { time: timeOf(call.since, language) })}`);
}

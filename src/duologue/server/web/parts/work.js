// Running tools and jobs as cards: progress, questions, a button to cancel.
//
// Rule: a text field is never rebuilt while the user types in it.

import { icon, keyed, make, show, write } from "../dom.js";
import { isRunning } from "../client/model/work.js";
import { watching } from "../watching.js";
import { ranFor, readable } from "./status.js";

const OUTCOMES = { done: "done", cancelled: "cancelled", timed_out: "timedOut", failed: "failed", refused: "failed" };

const TICK_MS = 1000;

export function work({ text, act }) {
  const card = document.getElementById("work");
  const list = make("ul.jobs");
  card.append(make("h2", {}, text("work")), list);
  let entries = [];
  setInterval(() => {
    for (const entry of entries) if (isRunning(entry)) showTime(list.querySelector(`[data-key="${entry.call}"]`), entry, text);
  }, TICK_MS);
  return watching(["work"], (model) => {
    const shown = model.work.toReversed().toSorted((one, other) => Number(isRunning(other)) - Number(isRunning(one)));
    entries = shown;
    show(card, shown.length > 0);
    keyed(list, shown, ({ call }) => call, (entry) => created(entry, text, act), (element, entry) => update(element, entry, text));
  });
}

function created({ call, tool }, text, act) {
  const cancel = make("button.small.cancel", { type: "button", onclick: () => act.cancel(call) }, text("cancel"), make("span.unseen", {}, ` ${readable(tool)}`));
  const field = make("input.field", { type: "text", id: `answer-${call}`, autocomplete: "off" });
  const form = make(
    "form.ask",
    {
      hidden: true,
      onsubmit: (event) => {
        event.preventDefault();
        if (field.value.trim()) act.answer(call, field.value.trim());
      },
    },
    make("label", { for: field.id }),
    make("div.ask-row", {}, field, make("button.small.strong", { type: "submit" }, text("answer"))),
  );
  field.placeholder = text("yourAnswer");
  const name = make("div.job-name", {}, make("span.job-sign", { "aria-hidden": "true" }), make("strong"), make("span.job-note"));
  return make(
    "li.job",
    {},
    make("div.job-head", {}, name, cancel),
    make("div.bar", { role: "progressbar", "aria-valuemin": "0", "aria-valuemax": "100", "aria-label": readable(tool) }, make("span")),
    make("p.job-text"),
    form,
  );
}

function update(element, entry, text) {
  const [head, bar, line, form] = element.children;
  const [name, cancel] = head.children;
  const running = isRunning(entry);
  const outcome = running ? "" : (OUTCOMES[entry.outcome] ?? "failed");
  element.dataset.status = entry.status;
  element.dataset.outcome = outcome;
  write(name.children[1], readable(entry.tool));
  if (running) showTime(element, entry, text);
  else write(name.children[2], `${text(outcome)}${lasted(entry, text)}`);
  const sign = running ? "" : outcome === "done" ? "check" : "close";
  if (name.children[0].dataset.sign !== sign) {
    name.children[0].dataset.sign = sign;
    name.children[0].replaceChildren(...(sign ? [icon(sign)] : []));
  }
  show(cancel, running);
  show(bar, running);
  progress(bar, entry.fraction);
  const told = running ? toldOf(entry, text) : "";
  write(line, told);
  show(line, Boolean(told));
  show(form, entry.status === "asking");
  write(form.querySelector("label"), entry.question ?? "");
}

/** How long running work has been running. */
function showTime(element, entry, text) {
  const parts = [entry.mode === "dispatch" ? text("beside") : "", ranFor(entry, text)];
  write(element.querySelector(".job-note"), parts.filter(Boolean).join(" · "));
}

function toldOf({ silent, text: progressText, wait }, text) {
  if (silent) return text("silent");
  return [wait?.label, progressText || wait?.detail].filter(Boolean).join(" · ");
}

function progress(bar, fraction) {
  const known = typeof fraction === "number";
  bar.dataset.known = String(known);
  if (known) {
    bar.setAttribute("aria-valuenow", String(Math.round(fraction * 100)));
    bar.firstElementChild.style.setProperty("--part", String(fraction));
  } else bar.removeAttribute("aria-valuenow");
}

function lasted({ durationMs }, text) {
  return durationMs ? ` · ${text("seconds", { s: (durationMs / 1000).toFixed(1) })}` : "";
}

// Figures: current and previous states with their durations, the server's metrics, usage by provider, stages of answers.
//
// The server's figures are those of now. Rule: an unknown number is shown as a dash, and so is a figure of now beside an
// earlier step.

import { keyed, make, set, show, write } from "../dom.js";
import { lookOf } from "./looks.js";
import { clock } from "./timeline.js";

const VISITS_SHOWN = 8;
const RENEWED_MS = 5000; // a session that began later isn't the first one
const STAGES = ["speechEndToText", "textToToken", "tokenToAudio", "audioToPlayed"];

export function measures({ text }) {
  const element = make("dl.measures");
  return {
    element,
    /** `now` is the time that is shown. */
    render(model, lanes, now) {
      const [current, previous] = lanes.at("phase", now);
      const m = isLiveView(model.hood) ? (model.metrics ?? {}) : {};
      const sessionAt = model.hood.replay || model.status.sessionAt > now ? 0 : model.status.sessionAt;
      const items = [
        ["current", labelOf(model, current?.state), current ? lasting(now - current.from) : ""],
        ["previous", labelOf(model, previous?.state), previous ? lasting(current.from - previous.from) : ""],
        ["session", clock(Math.max(0, now - sessionAt)), sessionAt > RENEWED_MS ? text("wholeCall", { time: clock(now) }) : ""],
        ["turns", m.turns ?? "–", ""],
        ["firstAudio", known(m.meanAnswerMs, (ms) => `${Math.round(ms)}`), known(m.meanAnswerMs, () => "ms", "")],
        ["interruptionRate", known(m.interruptionRate, percent), ""],
        ["toolCalls", m.calls ?? "–", m.calls ? text("succeeded", { part: known(m.callSuccessRate, percent) }) : ""],
        ["errors", m.errors ?? "–", ""],
        ["usage", used(m.usage), cost(m.usage, text)],
      ];
      keyed(element, items, ([key]) => key, ([key]) => created(key, text), update);
    },
  };
}

/** Tokens if an LLM told them, else characters that were spoken. */
function used(usage) {
  if (!usage || !(usage.tokens || usage.characters)) return "–";
  return String(usage.tokens || usage.characters);
}

/** What the usage costs, by the operator's prices; without prices, what is counted. */
function cost(usage, text) {
  if (!usage) return "";
  if (usage.cost !== null && usage.cost !== undefined) return `${usage.cost.toFixed(4)} ${usage.currency}`;
  return usage.tokens ? text("tokens") : usage.characters ? text("spokenCharacters") : "";
}

/** What the call has used of each provider and model, with its cost if the operator has given prices. */
export function usageByProvider({ text }) {
  const list = make("ul.usage-rows");
  const element = make("section.panel.usage-panel", { hidden: true }, make("h3", {}, text("usage")), list);
  return {
    element,
    render(model) {
      const { rows = [], currency = "" } = (isLiveView(model.hood) && model.metrics?.usage) || {};
      show(element, rows.length > 0);
      keyed(list, rows, ({ part, provider, model: name }) => `${part} ${provider} ${name}`, usageRow, (item, row) => {
        const [amounts, price] = [...item.children].slice(1);
        write(amounts, amountsOf(row, text).join(" · "));
        write(price, known(row.cost, (cost) => `${cost.toFixed(4)} ${currency}`));
      });
    },
  };
}

function usageRow({ part, provider, model }) {
  const name = make("span.usage-name", {}, `${part.toUpperCase()} · ${[provider, model].filter(Boolean).join(" · ")}`);
  return make("li.usage-row", {}, name, make("span.usage-amounts"), make("span.usage-cost"));
}

function amountsOf({ input_tokens = 0, output_tokens = 0, characters = 0, heard_ms = 0, spoken_ms = 0 }, text) {
  const seconds = (ms) => (ms ? (ms / 1000).toFixed(1) : 0);
  const amounts = [["tokens", input_tokens + output_tokens], ["spokenCharacters", characters], ["secondsHeard", seconds(heard_ms)], ["secondsSpoken", seconds(spoken_ms)]];
  return amounts.filter(([, amount]) => amount).map(([unit, amount]) => `${amount} ${text(unit)}`);
}

const LIFECYCLE = ["idle", "listening", "processing", "speaking", "tool_executing", "waiting_amplifier", "error", "reconnecting"];

/** The eight states of the lifecycle; the current one is marked. */
export function lifecycle({ text }) {
  const list = make("ol.lifecycle", { "aria-labelledby": "lifecycle-title" }, ...LIFECYCLE.map((name) => make("li", {}, name)));
  return {
    element: make("div.lifecycle-line", {}, make("h3", { id: "lifecycle-title" }, text("lifecycle")), list),
    render(moment) {
      for (const item of list.children) set(item, "aria-current", item.textContent === moment?.views?.lifecycle ? "step" : null);
    },
  };
}

/** What the next session will know: the summary, and the active files or notes. */
export function nextSession({ text }) {
  const summary = make("p.summary");
  const files = make("ul.files");
  const parts = [make("div", {}, make("h4", {}, text("summary")), summary), make("div", {}, make("h4", {}, text("activeFiles")), files)];
  const element = make("section.panel", { hidden: true }, make("h3", {}, text("nextSession")), make("div.next-session", {}, ...parts));
  return {
    element,
    render({ context, hood }) {
      show(element, isLiveView(hood) && context !== null);
      const names = context?.activeFiles ?? [];
      write(summary, context?.summary || "–");
      keyed(files, names.length ? names : ["–"], (name) => name, (name) => make("li", {}, name), () => {});
    },
  };
}

/** Is the newest step of the conversation shown, and not an earlier one or a journal? */
function isLiveView({ replay, cursor }) {
  return !replay && cursor === null;
}

function created(key, text) {
  return make("div.measure", {}, make("dt", {}, text(key)), make("dd", {}, make("span.figure"), make("small")));
}

function update(element, [, figure, note]) {
  const [shown, small] = element.lastElementChild.children;
  write(shown, String(figure));
  write(small, note);
}

/** The last answers, each as a bar of its stages, all on one scale. */
export function stages({ text }) {
  const list = make("ul.answers");
  const legend = make("ul.legend", {}, ...STAGES.map((stage, index) => make("li", {}, make(`span.swatch.stage-${index}`), text(stage))));
  const none = make("p.quiet-line", {}, text("none"));
  const element = make("section.panel.latency", {}, make("h3", {}, text("latency")), none, list, legend);
  return {
    element,
    render({ answers }) {
      none.hidden = answers.length > 0;
      legend.hidden = !answers.length;
      const longest = Math.max(1, ...answers.map(total));
      const items = answers.map((answer, index) => ({ answer, index })).toReversed();
      keyed(list, items, ({ index }) => index, () => bar(), (item, { answer }) => fill(item, answer, longest, text));
    },
  };
}

function bar() {
  return make("li.answer", {}, make("span.stack", { "aria-hidden": "true" }, ...STAGES.map((_, index) => make(`span.stage-${index}`))), make("span.answer-ms"), make("span.unseen"));
}

function fill(item, answer, longest, text) {
  const [stack, ms, words] = item.children;
  STAGES.forEach((stage, index) => {
    const part = stack.children[index];
    part.style.setProperty("--share", String((answer[stage] ?? 0) / longest));
    part.title = `${text(stage)}: ${known(answer[stage], (value) => `${value} ms`)}`;
  });
  write(ms, `${total(answer)} ms`);
  write(words, STAGES.map((stage) => `${text(stage)} ${known(answer[stage], (value) => `${value} ms`)}`).join(", "));
}

function total(answer) {
  return STAGES.reduce((sum, stage) => sum + (answer[stage] ?? 0), 0);
}

/** The visited states, newest first, with duration and cause. */
export function visited({ text }) {
  const list = make("ol.visited");
  const element = make("section.panel", {}, make("h3", {}, text("states")), list);
  return {
    element,
    render(model, lanes, now) {
      const visits = lanes.visits.phase;
      const end = visits.findLastIndex(({ from }) => from <= now) + 1;
      const items = visits.slice(Math.max(0, end - VISITS_SHOWN), end).map((visit, index, all) => ({ ...visit, until: all[index + 1]?.from ?? now }));
      keyed(list, items.toReversed(), ({ from, state }) => `${from}-${state}`, () => make("li", {}, make("span.visited-name"), make("span.visited-for"), make("span.reasons")), (item, visit) => {
        const [name, duration, cause] = item.children;
        write(name, labelOf(model, visit.state));
        item.dataset.hue = lookOf("phase", visit.state).hue;
        write(duration, lasting(visit.until - visit.from));
        write(cause, visit.cause);
      });
    },
  };
}

/** The turn-taking decisions and their reasons. */
export function decisions({ text }) {
  const list = make("ul.decisions");
  const none = make("p.quiet-line", {}, text("none"));
  const element = make("section.panel.decisions-panel", {}, make("h3", {}, text("decisions")), none, list);
  return {
    element,
    render(hood) {
      const made = hood.replay ? [] : hood.decisions.slice(-12).toReversed();
      none.hidden = made.length > 0;
      keyed(list, made, ({ at, decision }) => `${at}-${decision}`, decided, () => {});
    },
  };
}

function decided({ at, decision, reasons, confidence }) {
  return make(
    "li",
    { "data-decision": decision },
    make("span.decision-name", {}, decision.replaceAll("_", " ")),
    make("span.decision-at", {}, `${clock(at, true)}${typeof confidence === "number" ? ` · ${percent(confidence)}` : ""}`),
    make("span.reasons", {}, reasons.join(", ")),
  );
}

function labelOf({ ready }, state) {
  return state ? (ready?.labels?.[state] ?? state) : "–";
}

function lasting(ms) {
  return ms < 10000 ? `${(Math.max(0, ms) / 1000).toFixed(1)} s` : clock(ms);
}

function known(value, show, unknown = "–") {
  return value === null || value === undefined ? unknown : show(value);
}

function percent(part) {
  return `${Math.round(part * 100)}%`;
}

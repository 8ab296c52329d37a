// Steps as text: a list of the steps around the selected one, and the selected step in full.
//
// Rule: everything about a step can be read here, without the pictures.

import { keyed, make, write } from "../dom.js";
import { rowsOf, shownIndex, shownMoments } from "../model/hood.js";
import { causeOf } from "./lanes.js";
import { HUE_OF } from "./looks.js";
import { clock } from "./timeline.js";

const SHOWN_MAX = 80;
const REGIONS = ["link", "user", "voice", "reply", "jobs"];

/** The list, newest last; the selected step is marked and scrolled into view. */
export function stepList({ pick, text }) {
  const list = make("ol.steps");
  const element = make("section.panel.steps-panel", { "aria-labelledby": "steps-title" }, make("h3", { id: "steps-title" }, text("steps")), list);
  list.addEventListener("keydown", (event) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    pick((index) => index + move);
    requestAnimationFrame(() => list.querySelector("[aria-current]")?.focus());
  });
  return {
    element,
    render(hood) {
      const moments = shownMoments(hood);
      const shown = shownIndex(hood);
      const from = Math.max(0, Math.min(shown - SHOWN_MAX / 2, moments.length - SHOWN_MAX));
      const items = moments.slice(from, from + SHOWN_MAX).map((moment, offset) => ({ moment, index: from + offset }));
      keyed(list, items, ({ index }) => index, ({ index }) => created(index, pick), (item, { moment, index }) => update(item, moment, moments[index - 1], index === shown));
      const current = list.querySelector("[aria-current]");
      if (current) reveal(list, current);
    },
  };
}

function created(index, pick) {
  return make("li", {}, make("button.step", { type: "button", onclick: () => pick(index) }, make("span.step-at"), make("span.step-event"), make("span.step-moves")));
}

function update(item, moment, before, isShown) {
  const button = item.firstElementChild;
  const [at, event, moves] = button.children;
  write(at, clock(moment.at, true));
  write(event, causeOf(moment));
  button.dataset.ignored = String(Boolean(moment.ignored));
  if (isShown) button.setAttribute("aria-current", "step");
  else button.removeAttribute("aria-current");
  button.tabIndex = isShown ? 0 : -1;
  const key = `${moment.at}:${moment.event}`;
  if (moves.dataset.of === key) return;
  moves.dataset.of = key;
  moves.replaceChildren(...moved(moment, before).map(({ region, to }) => make(`span.leaf.${HUE_OF[region]}`, {}, to)));
}

/** The changes of regions in this step. */
export function moved(moment, before) {
  return REGIONS.filter((region) => before?.regions[region] !== moment.regions[region]).map((region) => ({
    region,
    from: before?.regions[region] ?? null,
    to: moment.regions[region],
  }));
}

function reveal(list, element) {
  const top = element.parentElement.offsetTop - list.offsetTop;
  if (top < list.scrollTop || top + element.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = top - list.clientHeight + element.offsetHeight + 12;
  }
}

/** One step in full: the event, the rows with their reasons, effects and deadline. */
export function stepDetail({ text }) {
  const title = make("h3");
  const body = make("div.detail-body");
  const element = make("section.panel.detail", { "aria-label": text("thisStep"), tabindex: "0" }, title, body);
  let shown = null;
  return {
    element,
    render(hood) {
      const moments = shownMoments(hood);
      const index = shownIndex(hood);
      const moment = moments[index];
      if (!moment || moment === shown) return;
      shown = moment;
      write(title, causeOf(moment));
      body.replaceChildren(...described(moment, moments[index - 1], rowsOf(hood), text));
    },
  };
}

function described(moment, before, rows, text) {
  const fields = Object.entries(moment.fields ?? {}).map(([name, value]) => `${name} ${value}`);
  return [
    make("p.detail-at", {}, `${clock(moment.at, true)}${fields.length ? ` · ${fields.join(" · ")}` : ""}`),
    make("div.leaves", {}, ...REGIONS.map((region) => leafOf(region, moment, before))),
    make("h4", {}, text("fired")),
    moment.fired.length ? make("ul.fired", {}, ...moment.fired.map((id) => fired(rows[id], id))) : make("p.quiet-line", {}, text("nothingFired")),
    ...(moment.effects.length ? [make("h4", {}, text("effects")), make("p.effects", {}, moment.effects.join(", "))] : []),
    ...(moment.timers?.length ? [make("h4", {}, text("deadline")), make("p.effects", {}, moment.timers.map(({ timer, due }) => `${timer} ${clock(due, true)}`).join(", "))] : []),
  ];
}

function leafOf(region, moment, before) {
  const from = before?.regions[region];
  const to = moment.regions[region];
  const changed = from !== undefined && from !== to;
  return make(
    `div.leaf-of${changed ? ".changed" : ""}`,
    {},
    make("span.leaf-region", {}, region),
    make(`span.leaf.${HUE_OF[region]}`, {}, changed ? `${from} → ${to}` : to),
  );
}

function fired(row, id) {
  const [, rest] = (row?.name ?? `row ${id}`).split(/: (.*)/s);
  return make(
    "li",
    {},
    make(`span.leaf.${HUE_OF[row?.region] ?? "quiet"}`, {}, row?.region ?? "?"),
    make("code", {}, (rest ?? row?.name ?? "").replace(" -> ", " → ")),
    row?.why ? make("span.why", {}, row.why) : null,
  );
}

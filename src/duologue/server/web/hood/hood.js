// The debug view: figures, lanes, steps, the machine and decisions, live or at any earlier step.
//
// Rule: the view draws nothing while it is closed. While it is open, it draws each change in the next frame, and the
// time that passes at half the frame rate.

import { icon, make, show, write } from "../dom.js";
import { shownIndex, shownMoments } from "../model/hood.js";
import { isLive, isWatching } from "../client/model/model.js";
import { MOVING_MS, paced } from "../parts/pace.js";
import { callList } from "./calls.js";
import { diagram } from "./diagram.js";
import { openJournal, saveJournal } from "./journal.js";
import { Lanes } from "./lanes.js";
import { decisions, lifecycle, measures, nextSession, stages, usageByProvider, visited } from "./measures.js";
import { stepDetail, stepList } from "./steps.js";
import { clock, Timeline } from "./timeline.js";
import { tracebacks } from "./tracebacks.js";

const STEP_MS = 250; // how often time passes with reduced motion

export function hood({ text, language, act, store }) {
  const root = document.getElementById("hood");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const lanes = new Lanes();
  const pick = (to) => move(store, act, to);
  const timeline = new Timeline({ lanes, pick, text });
  const parts = { measures: measures({ text }), usage: usageByProvider({ text }), lifecycle: lifecycle({ text }), nextSession: nextSession({ text }), list: stepList({ pick, text }), detail: stepDetail({ text }), diagram: diagram({ act, text }), decisions: decisions({ text }), tracebacks: tracebacks({ text }), stages: stages({ text }), visited: visited({ text }) };
  const bar = toolbar({ text, act, store });
  const calls = callList({ text, language, act });
  const scrub = scrubber({ text, act, pick });
  const empty = make("p.no-steps", {}, text("noSteps"));
  const zoom = make("div.zoom", {}, make("span.hint", {}, text("timelineHint")), timeline.wider, timeline.closer);
  const card = make("section.panel.timeline", { "aria-labelledby": "timeline-title" }, make("div.panel-head", {}, make("h3", { id: "timeline-title" }, text("timeline")), zoom), timeline.canvas, scrub.element);
  const body = make("div.hood-body", {}, parts.measures.element, parts.lifecycle.element, card, parts.usage.element, parts.nextSession.element, make("div.pair", {}, parts.list.element, parts.detail.element), parts.diagram.element, make("div.pair.even", {}, parts.visited.element, parts.decisions.element, parts.stages.element));
  root.append(bar.element, calls.element, parts.tracebacks.element, empty, body);

  let seen = null;
  return paced(() => {
    const { model } = store;
    if (model.view !== "hood") return null;
    const moments = shownMoments(model.hood);
    const now = endOf(model, moments);
    const index = shownIndex(model.hood);
    const cursor = model.hood.cursor === null ? null : (moments[index]?.at ?? 0);
    show(empty, !moments.length);
    show(body, moments.length > 0);
    if (moments.length) {
      timeline.draw(moments, now, cursor, model.hood.replay ? [] : model.hood.decisions, still.matches);
      parts.measures.render(model, lanes, cursor ?? now);
      parts.visited.render(model, lanes, cursor ?? now);
      parts.lifecycle.render(moments[index]);
    }
    if (seen !== model) {
      seen = model;
      bar.render(model);
      calls.render(model);
      parts.nextSession.render(model);
      parts.usage.render(model);
      scrub.render(model.hood, moments, index);
      for (const name of ["tracebacks", "list", "detail", "diagram", "decisions", "stages"]) parts[name].render(model.hood);
    }
    return still.matches ? STEP_MS : MOVING_MS;
  });
}

/** The end of the timeline: now while the conversation runs, else the last step. */
function endOf(model, moments) {
  const last = moments.at(-1)?.at ?? 0;
  return model.hood.replay || !isLive(model) ? last : last + Math.max(0, performance.now() - model.hood.seenAt);
}

/** Go to a step, by number or relative to the current one. After the last step, the view is live again. */
function move({ model: { hood } }, act, to) {
  const last = shownMoments(hood).length - 1;
  if (last < 0) return;
  const index = typeof to === "function" ? to(shownIndex(hood)) : to;
  act.tell("cursor", { cursor: index > last && !hood.replay ? null : Math.max(0, Math.min(last, index)) });
}

function toolbar({ text, act, store }) {
  const title = make("h2", {}, text("hood"));
  const note = make("p.replay-note", { role: "status" });
  const fail = (problem) => act.notify({ level: "error", message: text("journalFailed", { why: problem.message }), actions: [] });
  const file = make("input.unseen", { type: "file", accept: ".jsonl,.ndjson,.json,.journal", tabindex: "-1", "aria-label": text("openJournal") });
  file.onchange = async () => {
    const [chosen] = file.files;
    file.value = "";
    if (chosen) await openJournal(chosen).then((replay) => act.tell("replay", { replay }), fail);
  };
  const save = make("button.small", { type: "button", onclick: () => saveJournal(store.model.conversation).catch(fail) }, icon("download"), text("journal"));
  const open = make("button.small", { type: "button", onclick: () => file.click() }, icon("open"), text("openJournal"));
  const close = make("button.small.strong", { type: "button", onclick: () => act.tell("replay", { replay: null }) }, text("closeJournal"));
  return {
    element: make("div.hood-head", {}, title, note, make("div.hood-tools", {}, close, save, open, file)),
    render(model) {
      const { replay } = model.hood;
      show(close, Boolean(replay));
      show(save, model.conversation !== null && !isWatching(model) && !replay);
      write(note, replay ? `${text("replaying", { name: replay.name })} · ${text(replay.agrees ? "agrees" : "differs")}` : "");
    },
  };
}

function scrubber({ text, act, pick }) {
  const slider = make("input.scrub", { type: "range", min: "0", step: "1", "aria-label": text("scrub") });
  slider.oninput = () => pick(Number(slider.value));
  const back = make("button.small.square", { type: "button", "aria-label": text("back"), onclick: () => pick((index) => index - 1) }, icon("back"));
  const forward = make("button.small.square", { type: "button", "aria-label": text("forward"), onclick: () => pick((index) => index + 1) }, icon("next"));
  const live = make("button.small.live", { type: "button", onclick: () => act.tell("cursor", { cursor: null }) }, make("span.live-dot", { "aria-hidden": "true" }), text("live"));
  const where = make("output.where");
  return {
    element: make("div.scrubber", {}, back, forward, slider, where, live),
    render({ cursor, replay }, moments, index) {
      slider.max = String(Math.max(0, moments.length - 1));
      if (document.activeElement !== slider || Number(slider.value) !== index) slider.value = String(index);
      const words = moments.length ? text("stepOf", { n: index + 1, all: moments.length }) : "";
      slider.setAttribute("aria-valuetext", moments[index] ? `${words}, ${clock(moments[index].at, true)}` : words);
      slider.style.setProperty("--at", String(moments.length > 1 ? index / (moments.length - 1) : 1));
      write(where, words);
      show(live, !replay);
      live.setAttribute("aria-pressed", String(cursor === null));
    },
  };
}

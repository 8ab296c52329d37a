// The elements of the widget. Their ids are those of the panel, so that the panel's parts find them.

import { icon, make } from "../dom.js";

const SVG = "http://www.w3.org/2000/svg";

/** The outer element has the panel's colours and fonts, the inner one those that the page has set. */
export function markup() {
  return make("div.tokens", {}, widget());
}

function widget() {
  return make(
    "div.widget",
    {},
    make("button.launcher", { type: "button", id: "launcher", "aria-expanded": "false", "aria-controls": "window" }, mark(), make("span", { id: "launcher-label" }), make("span.now", { "aria-hidden": "true" }, make("span.now-dot"), make("span", { id: "now-label" }))),
    make("section.window", { id: "window", role: "dialog", "aria-labelledby": "agent-name", hidden: true }, top(), stage(), talk(), controls()),
    make("div.unseen", { id: "announcer", role: "status", "aria-live": "polite" }),
  );
}

function top() {
  return make("header.top", {}, make("h2.brand", {}, mark(), make("span", { id: "agent-name" })), make("button.close", { type: "button", id: "hide", "data-label": "hide" }, icon("close")));
}

function stage() {
  return make(
    "div.stage",
    { id: "stage", tabindex: "-1", role: "group", "data-label": "stage" },
    make("canvas", { id: "orb", "aria-hidden": "true" }),
    make("div.words", {}, make("p.state-label", { id: "state-label", role: "status", "aria-live": "polite" }), make("p.state-hint", { id: "state-hint" })),
    make("div.gate", { id: "gate", hidden: true }),
  );
}

function talk() {
  return make(
    "section.talk",
    { "data-label": "conversation" },
    make("div.banner", { id: "banner", role: "status", hidden: true }),
    make("ul.notices", { id: "notices", "data-label": "notices" }),
    make("div.captions", { id: "captions", role: "log", "aria-live": "off", tabindex: "0", "data-label": "transcript" }, make("div.intro", { id: "intro" }), make("ol.lines", { id: "lines" }), make("div.over", { id: "over", hidden: true })),
    make("ul.suggestions", { id: "suggestions", "data-label": "couldSay", hidden: true }),
    make(
      "form.composer",
      { id: "composer", autocomplete: "off" },
      make("label.unseen", { for: "typed", "data-text": "typeLabel" }),
      make("textarea", { id: "typed", rows: "1", maxlength: "4000", enterkeyhint: "send" }),
      make("button.send", { type: "submit", id: "send" }, icon("send"), make("span.unseen", { "data-text": "send" })),
    ),
  );
}

function controls() {
  return make(
    "section.controls",
    { "data-label": "controls" },
    make("div.before", {}, make("button.primary", { type: "button", id: "start" }, make("span.primary-label")), make("button.link", { type: "button", id: "skip-microphone", "data-text": "typeInstead", hidden: true })),
    make("button.hold", { type: "button", id: "hold", hidden: true }, make("span", { "data-text": "hold" })),
    make("div.dock", { id: "dock", hidden: true }, round("mute", "mic", true), round("pause", "pause", true), round("interrupt", "hand"), round("end", "end")),
    make("div.microphone", { id: "microphone-row", hidden: true }, modes(), make("div.meter", { id: "meter", role: "meter", "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": "0", "data-label": "level" }, make("span"))),
    make("p.microphone-trouble", { id: "microphone-trouble", hidden: true }),
  );
}

function modes() {
  const mode = (value, key) => make("label", {}, make("input", { type: "radio", name: "mode", value }), make("span", { "data-text": key }));
  return make("fieldset.modes", { id: "modes" }, make("legend.unseen", { "data-text": "mode" }), mode("hands-free", "handsFree"), mode("push", "pushToTalk"));
}

function round(id, name, toggles = false) {
  const caption = make("span.caption", toggles ? {} : { "data-text": id });
  return make(`button.round-button${id === "end" ? ".end" : ""}`, { type: "button", id, ...(toggles ? { "aria-pressed": "false" } : {}) }, make("span.disc", {}, icon(name)), caption);
}

/** The two discs of the orb, as a sign. */
function mark() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "mark");
  svg.setAttribute("viewBox", "0 0 32 20");
  svg.setAttribute("aria-hidden", "true");
  for (const [name, x] of [["mark-person", 10.5], ["mark-agent", 21.5]]) {
    const disc = document.createElementNS(SVG, "circle");
    disc.setAttribute("class", name);
    disc.setAttribute("cx", x);
    disc.setAttribute("cy", 10);
    disc.setAttribute("r", 9.5);
    svg.append(disc);
  }
  return svg;
}

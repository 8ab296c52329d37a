// The diagram of the machine, drawn by the server from its tables, with the rows that fired highlighted.
//
// Rule: the diagram's inline style sheet is removed (the page allows none); diagram.css styles it in the
// page's theme.

import { make } from "../dom.js";
import { bearer } from "../seat.js";
import { rowsOf, shownIndex, shownMoments } from "../model/hood.js";
import { moved } from "./steps.js";

const NAMES = ["link", "user", "voice", "reply", "jobs", "machine"];

export function diagram({ act, text }) {
  const tabs = make("div.tabs", { role: "group", "aria-labelledby": "diagram-title" });
  const place = make("div.diagram", { tabindex: "0", role: "group", "aria-labelledby": "diagram-title" });
  const pictures = new Map();
  let shown = null;
  let followed = "user";
  const buttons = [null, ...NAMES].map((name) => {
    const button = make("button.tab", { type: "button", onclick: () => act.tell("diagram", { diagram: name }) }, name ?? text("follow"));
    button.dataset.name = name ?? "";
    return button;
  });
  tabs.append(...buttons);
  const element = make("section.panel.diagram-panel", {}, make("div.panel-head", {}, make("h3", { id: "diagram-title" }, text("machine")), tabs), place);

  // A diagram that failed to load is requested again at the next step.
  const pictureOf = (name) => {
    const missing = () => {
      pictures.delete(name);
      return make("p.quiet-line", {}, name);
    };
    if (!pictures.has(name)) pictures.set(name, load(name).catch(missing));
    return pictures.get(name);
  };

  return {
    element,
    render(hood) {
      const moments = shownMoments(hood);
      const index = shownIndex(hood);
      const moment = moments[index];
      const before = moments[index - 1];
      if (moment) followed = regionOf(moment, before, rowsOf(hood)) ?? followed;
      const name = hood.diagram ?? followed;
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.name === (hood.diagram ?? "")));
      const light = (picture) => {
        if (shown?.moment !== moment || place.firstElementChild !== picture) return;
        lightUp(picture, moment, before);
      };
      if (shown?.name === name && shown.moment === moment) return;
      shown = { name, moment };
      pictureOf(name).then((picture) => {
        if (shown.name !== name) return;
        if (place.firstElementChild !== picture) place.replaceChildren(picture);
        light(picture);
      });
    },
  };
}

/** The region to show for a step: one that changed, else one whose row fired. */
function regionOf(moment, before, rows) {
  const [first] = before ? moved(moment, before) : [];
  if (first) return first.region;
  return moment.fired.map((id) => rows[id]?.region).find((region) => NAMES.includes(region));
}

async function load(name) {
  const answer = await fetch(`debug/diagram/${name}.svg`, { headers: bearer() });
  if (answer.status === 401 || answer.status === 403) return make("p.quiet-line", {}, name); // for operators only
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  const source = (await answer.text()).replace(/<style[\s\S]*?<\/style>/g, "");
  const parsed = new DOMParser().parseFromString(source, "image/svg+xml");
  const picture = document.importNode(parsed.documentElement, true);
  for (const named of picture.querySelectorAll("[id]")) named.id = `${name}-${named.id}`;
  picture.setAttribute("aria-labelledby", `${name}-title`);
  picture.removeAttribute("width");
  picture.removeAttribute("height");
  return picture;
}

function lightUp(picture, moment, before) {
  if (!picture.querySelectorAll) return;
  const fired = new Set((moment?.fired ?? []).map(String));
  for (const element of picture.querySelectorAll("[data-rows]")) {
    element.classList.toggle("lit", element.dataset.rows.split(" ").some((id) => fired.has(id)));
  }
  const here = leaves(moment);
  const was = leaves(before);
  for (const box of picture.querySelectorAll("rect[data-name]")) {
    const { name } = box.dataset;
    box.classList.toggle("here", here.has(name));
    box.classList.toggle("was", was.has(name) && !here.has(name));
  }
}

function leaves(moment) {
  const names = Object.values(moment?.regions ?? {}).flatMap((state) => state.split(/[,+]/).map((part) => part.trim()));
  return new Set(names.concat(moment?.regions?.jobs === "none" ? ["absent"] : []));
}

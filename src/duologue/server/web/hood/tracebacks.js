// The tracebacks of the developer's own code, the newest first. Only `duologue dev` sends them.

import { keyed, make, show } from "../dom.js";
import { clock } from "./timeline.js";

export function tracebacks({ text }) {
  const list = make("ol.tracebacks");
  const element = make("section.panel", { hidden: true, "aria-labelledby": "tracebacks-title" }, make("h3", { id: "tracebacks-title" }, text("tracebacks")), list);
  return {
    element,
    render({ tracebacks: found, replay }) {
      show(element, found.length > 0 && !replay);
      keyed(list, [...found].reverse(), (one) => `${one.at} ${one.where} ${one.error}`, created, () => {});
    },
  };
}

function created({ at, where, error, text: lines }) {
  const head = make("summary", {}, make("time", {}, clock(at, true)), ` ${where}: ${error}`);
  return make("li", {}, make("details", { open: "" }, head, make("pre", { tabindex: "0" }, lines)));
}

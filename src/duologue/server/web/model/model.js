// The model of the panel: that of its conversation, and what only the panel shows, the debug view.
//
// Messages of the page itself are named `panel.…`. Rule: `reduce` is pure, and the conversation's part is changed by the
// client's own `reduce` only.

import { firstModel as firstConversation, reduce as reduceConversation } from "../client/model/model.js";
import { EMPTY, withDebug, withDecision, withMoment, withoutSteps, withReplay, withStages, withTraceback } from "./hood.js";

export const PANEL = { view: "talk", hood: EMPTY }; // the view is talk or hood

export function firstModel(given = {}) {
  return firstConversation({ ...PANEL, ...given });
}

export function reduce(model, message) {
  const next = reduceConversation(model, message);
  const change = HOOD[message.type];
  const hood = change ? change(next.hood, message.payload ?? {}, message.receivedAt ?? 0) : next.hood;
  const view = message.type === "panel.view" ? message.payload.view : next.view;
  return hood === next.hood && view === next.view ? next : { ...next, hood, view };
}

const HOOD = {
  "duologue.conversation": (hood, { resumed, watching }) => (resumed && !watching ? hood : withoutSteps(hood)),
  "duologue.decision": withDecision,
  "duologue.traceback": withTraceback,
  "duologue.metrics": (hood, { stages }) => withStages(hood, stages),
  "duologue.debug": withDebug,
  "duologue.moment": withMoment,
  "client.unwatched": withoutSteps,
  "panel.view": (hood, { view }) => ({ ...hood, on: view === "hood" }),
  "panel.cursor": (hood, { cursor }) => ({ ...hood, cursor }),
  "panel.diagram": (hood, { diagram }) => ({ ...hood, diagram }),
  "panel.replay": (hood, { replay }) => withReplay(hood, replay),
};

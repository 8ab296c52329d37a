// Notices: problems and news, with the actions that the user can take.
//
// Rule: an action is a button with a text; a notice with an action doesn't disappear by itself.

import { icon, keyed, make } from "../dom.js";
import { watching } from "../watching.js";

const INFO_MS = 8000;
// Notices about a conversation that can't go on: what was said can be saved.
const BEYOND_REPAIR = new Set(["not_restored", "gone", "start_refused"]);

export function notices({ text, act, root = document }) {
  const list = root.getElementById("notices");
  return watching(["notices", "sound", "conversation"], (model) => {
    const blocked = model.sound === "blocked" && model.conversation !== null;
    const shown = blocked ? [{ id: "sound", level: "info", message: text("soundBlocked"), actions: [] }, ...model.notices] : model.notices;
    keyed(list, shown, ({ id }) => id, (notice) => created(notice, text, act), () => {});
  });
}

function created(notice, text, act) {
  const { id, level, message, actions, fatal } = notice;
  const buttons = actions
    .filter((action) => action !== "dismiss")
    .map((action) => make("button.small", { type: "button", onclick: () => act.settle(notice, action) }, text(action)));
  if (fatal || BEYOND_REPAIR.has(notice.code)) {
    buttons.push(make("button.small", { type: "button", onclick: () => act.saveTranscript() }, text("saveTranscript")));
  }
  const close = make("button.close", { type: "button", "aria-label": text("dismiss"), onclick: () => act.settle(notice, "dismiss") }, icon("close"));
  if (level === "info" && !actions.length && id !== "sound") setTimeout(() => act.settle(notice, ""), INFO_MS);
  const body = make(
    `div.notice.${level}`,
    { "data-fatal": String(Boolean(fatal)), role: level === "error" ? "alert" : "status" },
    make("p", {}, message),
    make("div.notice-actions", {}, ...buttons),
    id === "sound" ? null : close,
  );
  return make("li", {}, body);
}

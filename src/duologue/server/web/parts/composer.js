// The text box, for typing instead of talking: Enter sends, Shift+Enter starts a new line.
//
// The text box works without a microphone. Rule: text that can't be sent stays in the box.

import { isOn, isWatching } from "../client/model/model.js";
import { show } from "../dom.js";
import { watching } from "../watching.js";

export function composer({ text, act, store, root = document }) {
  const form = root.getElementById("composer");
  const typed = root.getElementById("typed");
  const send = root.getElementById("send");
  const fit = () => {
    typed.style.height = "auto";
    typed.style.height = `${Math.min(typed.scrollHeight, 160)}px`;
    send.dataset.filled = String(Boolean(typed.value.trim()));
  };
  typed.addEventListener("input", fit);
  typed.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const words = typed.value.trim();
    // If the box is empty while the user talks, Enter means that they have finished.
    if (!words && store.model.captions.some(({ role, final }) => role === "user" && !final)) act.finishTurn();
    if (!words || !act.type(words)) return;
    typed.value = "";
    fit();
  });
  return watching(["conversation", "ended", "connection", "state", "status"], (model) => {
    show(form, !isWatching(model));
    const comes = ["open", "waiting", "connecting"].includes(model.connection.phase); // without a connection, a typed message waits
    const open = isOn(model) && comes && !["ending", "idle"].includes(model.state.phase);
    const isOnlyWay = model.status.hearing === "none"; // "or write" would offer a choice that the user doesn't have
    typed.placeholder = text(!isOn(model) ? "typeStart" : isOnlyWay ? "typeLabel" : "typeHere");
    typed.readOnly = !isOn(model);
    send.disabled = !open;
    form.dataset.open = String(open);
  });
}

// The buttons: start, end, mute, pause, interrupt, and push-to-talk.
//
// Rule: a control that has no use now is hidden; one that can't work says why.

import { isOn, isWatching } from "../client/model/model.js";
import { iconAddress, show, write } from "../dom.js";
import { watching } from "../watching.js";

const TROUBLES = { denied: "micDenied", absent: "micAbsent", insecure: "micInsecure", unplugged: "micUnplugged", failed: "micFailed" };

export function controls({ text, act, root = document }) {
  const by = (id) => root.getElementById(id);
  const parts = Object.fromEntries(
    ["start", "skip-microphone", "hold", "dock", "mute", "pause", "interrupt", "end", "microphone-row", "modes"].map((id) => [id, by(id)]),
  );
  const section = root.querySelector(".controls");
  const trouble = by("microphone-trouble");
  const again = makeAgain(text, act);
  parts.start.onclick = () => act.start();
  parts["skip-microphone"].onclick = () => act.skipMicrophone();
  parts.mute.onclick = () => act.mute();
  parts.pause.onclick = () => act.pause();
  parts.interrupt.onclick = () => act.interrupt();
  parts.end.onclick = () => act.end();
  parts.modes.onchange = ({ target }) => act.mode(target.value);
  holding(parts.hold, act);

  let wasOn = false;
  return watching(["connection", "ready", "conversation", "ended", "state", "microphone", "starting"], (model) => {
    const { microphone, state, connection, ready } = model;
    const on = isOn(model);
    const open = connection.phase === "open";
    const hasMicrophone = microphone.status === "on";
    const asking = microphone.status === "asking";
    const refused = ["refused", "lost"].includes(connection.phase);
    show(section, !isWatching(model));
    show(parts.start, !on && !refused);
    parts.start.disabled = !open || model.starting || !ready || model.ended?.canRestart === false;
    write(parts.start.querySelector(".primary-label"), startLabel(model, text));
    show(parts["skip-microphone"], !on && asking);
    show(parts.dock, on);
    show(parts.hold, on && hasMicrophone && microphone.mode === "push");
    parts.hold.disabled = !open;
    parts.hold.dataset.pressed = String(microphone.pressed);
    write(parts.hold.querySelector("span"), text(microphone.pressed ? "holding" : "hold"));
    show(parts.mute, hasMicrophone && microphone.mode === "hands-free");
    showToggle(parts.mute, microphone.muted, text("mute"), text("unmute"), "mic", "mic-off");
    showToggle(parts.pause, state.phase === "paused", text("pause"), text("resume"), "pause", "play");
    show(parts.interrupt, on);
    parts.interrupt.disabled = !open || !["speaking", "thinking", "working"].includes(state.phase);
    parts.pause.disabled = !open || !["listening", "paused", "thinking", "speaking", "working"].includes(state.phase);
    parts.end.disabled = state.phase === "ending";
    show(parts["microphone-row"], on && hasMicrophone);
    for (const radio of parts.modes.querySelectorAll("input")) radio.checked = radio.value === microphone.mode;
    if (on !== wasOn) focusOn(on, parts, model, root);
    wasOn = on;
    const key = asking ? "micAsking" : TROUBLES[microphone.status];
    show(trouble, Boolean(key));
    if (key && trouble.dataset.key !== key) {
      trouble.dataset.key = key;
      trouble.replaceChildren(text(key), " ", ...(asking ? [] : [again]));
    }
    show(again, Boolean(key) && on && microphone.status !== "insecure");
  });
}

/** The pressed button has disappeared: focus the next useful control. */
function focusOn(on, { hold, start }, { microphone }, root) {
  const focused = root.activeElement;
  if (focused && focused !== document.body && !focused.hidden && focused.offsetParent) return;
  if (!on) start.focus({ preventScroll: true });
  else if (microphone.status !== "on") root.getElementById("typed").focus({ preventScroll: true });
  else (microphone.mode === "push" ? hold : root.getElementById("stage")).focus({ preventScroll: true });
}

function makeAgain(text, act) {
  const again = document.createElement("button");
  again.type = "button";
  again.className = "link";
  again.textContent = text("tryMicrophone");
  again.onclick = () => act.openMicrophone();
  return again;
}

function startLabel({ connection, ended, ready, starting }, text) {
  if (connection.phase !== "open" || !ready) return text("connecting");
  return text(starting ? "starting" : ended ? "again" : "start");
}

function showToggle(button, on, label, labelOn, name, nameOn) {
  button.setAttribute("aria-pressed", String(on));
  write(button.querySelector(".caption"), on ? labelOn : label);
  const use = button.querySelector("use");
  const href = iconAddress(on ? nameOn : name);
  if (use.getAttribute("href") !== href) use.setAttribute("href", href);
}

/** Talk from pointer down to pointer up, with capture, so that a release outside the button counts. Keys: see keys.js. */
function holding(button, act) {
  button.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    button.setPointerCapture(event.pointerId);
    act.press();
  });
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) button.addEventListener(end, () => act.release());
  button.addEventListener("contextmenu", (event) => event.preventDefault());
}

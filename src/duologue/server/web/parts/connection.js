// Shows the connection: a banner while the page reconnects, a dialog when the server refused it.
//
// Rule: the captions stay on the screen even without a connection.

import { make, show, write } from "../dom.js";
import { watching } from "../watching.js";

// The text and the button of the dialog for each close code.
export const GATES = {
  4400: { title: "refusedMessage", offers: ["reload"] },
  4401: { title: "tokenWanted", hint: "tokenHint", offers: ["token"] },
  4403: { title: "refusedOrigin", hint: "originHint", offers: ["reload"] },
  4409: { title: "elsewhere", offers: ["useHere"] },
  4410: { title: "elsewhereTaken", offers: ["useHere"] },
  4426: { title: "newerVersion", offers: ["reload"] },
  1009: { title: "tooLarge", offers: ["retry"] },
};

export function connection({ text, act, store, root = document, body = document.body, gates = GATES }) {
  const banner = root.getElementById("banner");
  const gate = root.getElementById("gate");
  let wasOpen = false;
  return watching(["connection"], ({ connection: { phase, code, reason, attempt } }) => {
    wasOpen ||= phase === "open";
    const late = phase === "lost" || (phase === "waiting" && (wasOpen || code));
    show(banner, late);
    banner.dataset.phase = phase;
    if (late) fillBanner(banner, phase, code, text, act);
    else banner.replaceChildren();
    if (late && phase === "waiting") write(banner.querySelector(".attempt"), attempt ? text("attempt", { n: attempt }) : "");
    show(gate, phase === "refused");
    body.dataset.line = phase;
    const parts = phase === "refused" ? gateParts(gates[code] ?? gates[4400], code, reason, text, act) : [];
    if (parts.length && store.model.captions.length) parts.push(saveButton(text, act));
    gate.replaceChildren(...parts);
  });
}

function fillBanner(banner, phase, code, text, act) {
  const key = phase === "lost" ? "lost" : code === 4429 ? "later" : "reconnecting";
  if (banner.dataset.key === key && banner.childElementCount) return;
  banner.dataset.key = key;
  const buttons = [make("button.small", { type: "button", onclick: () => act.reconnect() }, text("retry")), saveButton(text, act)];
  banner.replaceChildren(
    make("span.pulse", { "aria-hidden": "true" }),
    make("p", {}, text(key)),
    make("span.attempt"),
    ...(phase === "lost" ? [make("div.notice-actions", {}, ...buttons)] : []),
  );
}

/** What was said can be saved wherever this page can't go on. */
function saveButton(text, act) {
  return make("button.small", { type: "button", onclick: () => act.saveTranscript() }, text("saveTranscript"));
}

function gateParts({ title, hint, offers }, code, reason, text, act) {
  const said = hint ? text(hint) : code === 4409 || code === 4410 ? "" : reason;
  return [
    make("h2", {}, text(title)),
    ...(said ? [make("p", {}, said)] : []),
    ...offers.map((offer) => (offer === "token" ? tokenForm(text, act) : button(offer, text, act))),
  ];
}

function button(offer, text, act) {
  const does = { reload: () => location.reload(), useHere: () => act.takeOver(), retry: () => act.reconnect() };
  return make("button.primary", { type: "button", onclick: does[offer] }, text(offer));
}

function tokenForm(text, act) {
  const input = make("input.field", { type: "password", id: "token", autocomplete: "off", required: true });
  const submit = (event) => {
    event.preventDefault();
    act.useToken(input.value.trim());
  };
  return make(
    "form.token",
    { onsubmit: submit },
    make("label", { for: "token" }, text("token")),
    input,
    make("button.primary", { type: "submit" }, text("retry")),
  );
}

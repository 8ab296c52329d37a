// The top of the page: the agent's name, and the button of the debug view.

import { write } from "../dom.js";
import { watching } from "../watching.js";
import { agentOf } from "./names.js";
import { labelOf } from "./status.js";

export function heading({ act, store, text }) {
  const name = document.getElementById("agent-name");
  const toggle = document.getElementById("hood-toggle");
  const hood = document.getElementById("hood");
  toggle.onclick = () => act.view(store.model.view === "hood" ? "talk" : "hood");
  toggle.setAttribute("aria-label", text("hood"));
  toggle.title = text("hood");
  return watching(["ready", "view", "state", "status", "microphone", "connection", "conversation", "speaker", "ended"], (model) => {
    const agent = agentOf(model) || "Duologue";
    write(name, agent);
    const label = labelOf(model, text);
    const title = label ? `${label} · ${agent}` : agent;
    if (document.title !== title) document.title = title;
    const open = model.view === "hood";
    toggle.setAttribute("aria-pressed", String(open));
    document.body.dataset.view = model.view;
    hood.hidden = !open;
  });
}

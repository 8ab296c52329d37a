// Announces each line to screen readers once, when it is complete.
//
// Rule: words that still change aren't announced; an interrupted line includes what was not heard.

import { resultText, withResults } from "../client/model/captions.js";
import { watching } from "../watching.js";
import { nameOf } from "./names.js";

export function announcer({ text, root = document }) {
  const region = root.getElementById("announcer");
  const told = new Set();
  let conversation = null;
  return watching(["captions", "results", "conversation"], (model) => {
    const lines = withResults(model.captions, model.results);
    const fresh = model.conversation?.conversation !== conversation;
    if (fresh) {
      conversation = model.conversation?.conversation;
      told.clear();
      // Lines restored after a reload were announced before.
      if (model.conversation?.resumed) lines.forEach(({ id }) => told.add(id));
    }
    for (const caption of lines) {
      if (!caption.final || told.has(caption.id)) continue;
      told.add(caption.id);
      region.textContent = caption.role === "result" ? resultText(caption) : spoken(caption, nameOf(model, caption, text), text);
    }
  });
}

function spoken({ text: words, unheard, overheard }, who, text) {
  const notes = [overheard ? text("overheard") : "", unheard ? `${text("notHeard")} ${unheard}` : ""];
  return [`${who}: ${words}`, ...notes].filter(Boolean).join(", ");
}

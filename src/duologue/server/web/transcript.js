// Saves the conversation as a text file. Created in the page, so it works without the server.

import { resultText, withResults } from "./client/model/captions.js";
import { nameOf } from "./parts/names.js";

export function transcriptOf(model, text) {
  const lines = withResults(model.captions, model.results).map((line) => {
    if (line.role === "result") return `[${resultText(line)}]`;
    const { text: words, unheard, final, overheard, unsent } = line;
    const notes = [unsent ? text("unsent") : "", overheard ? text("overheard") : "", final && unheard ? `${text("notHeard")} ${unheard}` : ""].filter(Boolean);
    return `${nameOf(model, line, text)}: ${words}${notes.length ? ` [${notes.join("; ")}]` : ""}`;
  });
  return `${lines.join("\n\n")}\n`;
}

export function download(name, content, type = "text/plain") {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

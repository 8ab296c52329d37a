// The captions of the conversation, set like a script: speaker, then words.
//
// The agent's words appear as they are heard; unheard words are dim, interrupted ones are struck through.
// Rule: a line keeps its element, so that nothing flickers and screen readers read nothing twice.

import { withCue, withResults } from "../client/model/captions.js";
import { isLive, unsentLines } from "../client/model/model.js";
import { icon, keyed, make, show, write } from "../dom.js";
import { watching } from "../watching.js";
import { nameOf } from "./names.js";
import { asSentence } from "./suggestions.js";

const NEAR_PX = 80;

export function captions({ text, act, root = document }) {
  const scroller = root.getElementById("captions");
  const lines = root.getElementById("lines");
  const intro = root.getElementById("intro");
  const over = root.getElementById("over");
  let stays = true; // scrolled to the end, unless the user scrolled up
  const follow = () => {
    if (stays) scroller.scrollTop = intro.hidden ? scroller.scrollHeight : 0;
  };
  scroller.addEventListener("scroll", () => {
    stays = !intro.hidden || scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_PX;
  });
  new ResizeObserver(follow).observe(scroller);
  const offered = make("div.offered", { hidden: true }, make("h3", {}, text("couldSay")), make("ul"));
  const [title, tips] = introduction(text);
  intro.append(title, offered, tips);
  const ending = make("p");
  over.append(ending, make("button.small", { type: "button", onclick: () => act.saveTranscript() }, text("saveTranscript")));
  return watching(["captions", "cue", "results", "conversation", "ended", "ready", "unsent", "connection", "status"], (model) => {
    const said = withCue(withResults(model.captions, model.results), model);
    const shown = model.connection.phase === "open" ? said : [...said, ...unsentLines(model)];
    show(intro, !shown.length && !isLive(model));
    offer(offered, model.ready?.agent?.suggestions ?? []);
    const queued = new Set(isLive(model) ? model.status.queued : []);
    let previous = null;
    keyed(
      lines,
      shown,
      ({ id }) => id,
      ({ role }) => (role === "result" ? receipt() : line()),
      (element, caption) => {
        element.dataset.follows = String(previous === caption.role);
        previous = caption.role;
        if (caption.role === "result") return updateReceipt(element, caption);
        update(element, { ...caption, queued: caption.role === "user" && queued.has(caption.turn) }, nameOf(model, caption, text), text);
      },
    );
    show(over, model.ended !== null);
    over.lastElementChild.hidden = !shown.length;
    write(ending, model.ended ? text(model.ended.reason === "gone" ? "endedGone" : "endedHungUp") : "");
    follow();
  });
}

function line() {
  const parts = ["span.heard", "span.unheard", "del.cut"].map((name) => make(name, { hidden: true }));
  return make("li.line", {}, make("span.who"), make("p.said", {}, ...parts), make("span.mark-of", { hidden: true }));
}

/** The result of a task, which stays among the words. */
function receipt() {
  return make("li.receipt", {}, make("div.receipt-card", {}, make("p.receipt-title", {}, icon("check"), make("span")), make("dl")));
}

function updateReceipt(element, { title, slots }) {
  const [head, list] = element.firstElementChild.children;
  write(head.lastElementChild, asSentence(title));
  keyed(list, slots, ({ label }) => label, ({ label }) => make("div", {}, make("dt", {}, asSentence(label)), make("dd")), (item, { value }) => write(item.lastElementChild, value));
}

function update(element, caption, name, text) {
  const { role, final, overheard, interrupted, unheard, unsent, queued } = caption;
  element.dataset.role = role;
  element.dataset.unsent = String(Boolean(unsent));
  element.dataset.cue = String(Boolean(caption.isCue));
  element.dataset.queued = String(Boolean(queued));
  element.dataset.live = String(!final);
  element.dataset.overheard = String(Boolean(overheard));
  const [who, said, mark] = element.children;
  const [heard, coming, cut] = said.children;
  write(who, name);
  write(heard, caption.text + gapIn(caption));
  show(heard, Boolean(caption.text));
  const isCut = final && Boolean(unheard);
  write(coming, final ? "" : unheard);
  show(coming, !final && Boolean(unheard));
  if (isCut && cut.dataset.text !== unheard) {
    cut.dataset.text = unheard;
    cut.replaceChildren(make("span.unseen", {}, `${text("notHeard")} `), unheard);
  }
  show(cut, isCut);
  const note = unsent ? text("unsent") : queued ? text("queued") : overheard ? text("overheard") : interrupted ? text("interrupted") : "";
  write(mark, note);
  show(mark, Boolean(note));
}

/** `unheard` follows `text`; the space between them may be on either side or missing. */
function gapIn({ text, unheard }) {
  return !text || !unheard || /\s$/.test(text) || /^[\s.,;:!?。、]/.test(unheard) || /[\u3040-\u30ff\u4e00-\u9fff]$/.test(text) ? "" : " ";
}

/** What one could say, before the conversation starts. */
function offer(element, suggestions) {
  show(element, suggestions.length > 0);
  const list = element.lastElementChild;
  if (list.dataset.shown === suggestions.join("\n")) return;
  list.dataset.shown = suggestions.join("\n");
  list.replaceChildren(...suggestions.map((words) => make("li", {}, `“${asSentence(words)}”`)));
}

function introduction(text) {
  const tips = [
    ["mic", "introSpeak"],
    ["hand", "introInterrupt"],
    ["send", "introType"],
  ];
  return [
    make("h2", {}, text("introTitle")),
    make("ul.tips", {}, ...tips.map(([name, key]) => make("li", {}, icon(name), make("span", {}, text(key))))),
  ];
}

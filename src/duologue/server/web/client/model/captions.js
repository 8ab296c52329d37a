// The captions of both sides, in the order in which they started.
//
// Results of tasks stand among them, after the turn in which they came. Rule: a caption has the id of its turn or reply; a
// later caption with the same id replaces the earlier one.

export function idOf({ role, turn, reply }) {
  return role === "user" ? `turn-${turn}` : `reply-${reply}`;
}

export function fromHistory(items) {
  return items
    .filter(({ text, unheard }) => text || unheard)
    .map((item, index) => ({ ...item, id: uniqueId(item, index), final: true }));
}

/** `speaker` is the name of the agent that holds the conversation now; a line keeps the speaker with which it began. */
export function withCaption(captions, caption, speaker = "") {
  const said = { unheard: "", ...caption, speaker, id: idOf(caption), interrupted: caption.final && Boolean(caption.unheard) };
  const at = captions.findIndex(({ id }) => id === said.id);
  if (!said.text && !said.unheard) return at < 0 || !said.final ? captions : captions.toSpliced(at, 1);
  if (at < 0) return [...captions, said];
  if (isAnother(captions[at], said)) return [...captions, { ...said, id: `${said.id}-${captions.length}` }];
  const final = said.final || captions[at].final; // text may still be corrected after its turn is over
  return captions.with(at, { ...captions[at], ...said, final, overheard: captions[at].overheard, speaker: captions[at].speaker });
}

/** The end of a turn may change its caption: dropped as noise, or overheard and not answered. */
export function withTurn(captions, { event, turnId, role, why }) {
  if (event !== "turn-dropped" || role === "assistant") return captions;
  const wanted = String(turnId).startsWith("turn-") ? turnId : `turn-${turnId}`;
  const at = captions.findIndex(({ id }) => id === wanted);
  if (at < 0) return captions;
  return why === "overheard" ? captions.with(at, { ...captions[at], overheard: true, final: true }) : captions.toSpliced(at, 1);
}

/** The connection was lost in mid-sentence: no caption is live any more. */
export function settled(captions) {
  return captions.map((caption) => (caption.final ? caption : { ...caption, final: true, interrupted: Boolean(caption.unheard) }));
}

/** The captions with the results of tasks between them. A result that the agent has said word for word isn't repeated. */
export function withResults(captions, results) {
  const said = captions.filter(({ role }) => role === "assistant").map(({ text, unheard }) => `${text} ${unheard ?? ""}`);
  const isSaid = ({ slots }) => slots.every(({ value }) => said.some((words) => words.includes(value)));
  const lines = results.map((result, index) => ({ ...result, role: "result", id: `result-${index}`, final: true }));
  let placed = [...captions];
  for (const line of lines.filter((one) => !isSaid(one))) {
    const next = placed.findIndex(({ role, turn }) => role === "user" && turn > line.turn);
    placed = next < 0 ? [...placed, line] : placed.toSpliced(next, 0, line);
  }
  return placed;
}

/** What a cue says, as a line. It is no part of the conversation. */
export function cueLine({ cue }) {
  return cue ? [{ id: "cue", role: "assistant", text: cue.text, unheard: "", final: true, isCue: true }] : [];
}

/** The lines with that of the cue, before the words of the user that came after it. */
export function withCue(lines, { cue, captions }) {
  const later = new Set(captions.slice(cue?.after ?? captions.length).map(({ id }) => id));
  const place = lines.findIndex(({ id }) => later.has(id));
  return lines.toSpliced(place < 0 ? lines.length : place, 0, ...cueLine({ cue }));
}

/** A result as a text: "Book a flight: booking ref BK1234". */
export function resultText({ title, slots }) {
  return `${title}: ${slots.map(({ label, value }) => `${label} ${value}`).join(", ")}`;
}

// Is `next` a new caption, though it has the id of `old`? Replies without a number, such as greetings, share one id.
function isAnother(old, next) {
  const number = next.role === "user" ? next.turn : next.reply;
  return !number && old.final && !next.text.startsWith(old.text);
}

function uniqueId(item, index) {
  const number = item.role === "user" ? item.turn : item.reply;
  return number ? idOf(item) : `${idOf(item)}-${index}`;
}

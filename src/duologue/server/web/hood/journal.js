// Saves the journal of this conversation, and opens one from disk.
//
// Rule: the server replays a journal; the page only shows the result.

import { bearer, memory } from "../seat.js";
import { download } from "../transcript.js";

export async function saveJournal({ conversation, key }) {
  const kept = memory.conversation(); // its key may be newer
  const headers = { "X-Conversation-Key": kept?.conversation === conversation ? kept.key : key, ...bearer() };
  const answer = await fetch(`conversations/${encodeURIComponent(conversation)}/journal`, { headers });
  if (!answer.ok) throw new Error(await reason(answer));
  download(`${conversation}.jsonl`, await answer.blob());
}

export async function openJournal(file) {
  const answer = await fetch("debug/replay", { method: "POST", body: file, headers: { "Content-Type": "application/x-ndjson", ...bearer() } });
  if (!answer.ok) throw new Error(await reason(answer));
  const { rows, regions, moments, agrees } = await answer.json();
  return { name: file.name, rows, regions, moments, agrees };
}

async function reason(answer) {
  try {
    const { error } = await answer.json();
    return error ?? String(answer.status);
  } catch {
    return String(answer.status);
  }
}

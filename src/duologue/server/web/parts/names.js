// The names of the speakers.

/** The agent's name, or "Agent". */
export function agentOf({ conversation, ready, speaker }) {
  return speaker || (conversation?.watching ? conversation.agent : ready?.agent?.name) || "";
}

/** The speaker of a user's line: the user of this page, or a watched caller. */
export function nameOf(model, role, text) {
  if (role === "user") return text(model.conversation?.watching ? "caller" : "you");
  return agentOf(model) || text("agent");
}

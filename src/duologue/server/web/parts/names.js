// The names of the speakers.

/** The agent's name, or "Agent". */
export function agentOf({ conversation, ready, speaker }) {
  return speaker || (conversation?.watching ? conversation.agent : ready?.agent?.name) || "";
}

/** The speaker of a line: the user of this page, a watched caller, or the agent that said it. */
export function nameOf(model, { role, speaker }, text) {
  if (role === "user") return text(model.conversation?.watching ? "caller" : "you");
  return agentOf(speaker === undefined ? model : { ...model, speaker }) || text("agent");
}

// Who is who in the conversation that is shown.

/** The agent's name, or what it is. */
export function agentOf({ conversation, ready }) {
  return (conversation?.watching ? conversation.agent : ready?.agent?.name) || "";
}

/** Whose line it is: the person at this page, or a caller who is watched. */
export function nameOf(model, role, text) {
  if (role === "user") return text(model.conversation?.watching ? "caller" : "you");
  return agentOf(model) || text("agent");
}

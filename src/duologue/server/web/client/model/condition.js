// The condition of the microphone, as the server is told of it.
//
// Rule: the server derives from it whether the user is heard; the page never decides that itself.

const CONDITIONS = { on: "on", asking: "opening", failed: "broken", unplugged: "broken" };

/** on, opening, muted, broken or off. */
export function conditionOf({ status, muted, mode }) {
  const condition = CONDITIONS[status] ?? "off";
  return condition === "on" && muted && mode === "hands-free" ? "muted" : condition;
}

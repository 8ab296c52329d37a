// What the panel remembers beside its conversation: the token of this tab, which comes with the address.
//
// Rule: the token doesn't stay in the address bar, where it could be copied with the address.

import { createMemory } from "./client/memory.js";

export const memory = createMemory("duologue");

/** Read the token from the address, store it for this tab, and remove it from the address bar. */
export function accessToken() {
  const address = new URL(location.href);
  const given = address.searchParams.get("token");
  if (given === null) return memory.tab.read("token") ?? "";
  keepToken(given);
  address.searchParams.delete("token");
  history.replaceState(null, "", address);
  return given;
}

export function keepToken(token) {
  memory.tab.write("token", token);
}

/** The header with which a request shows this tab's token. */
export function bearer() {
  const token = accessToken();
  return token ? { Authorization: `Bearer ${token}` } : {};
}

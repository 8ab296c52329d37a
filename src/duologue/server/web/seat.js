// What is stored in the browser: the seat (a random id, permanent), the conversation with its key (of this tab, and of the
// browser, so that another tab can take over), unconfirmed messages, and the token (for this tab).
//
// Rule: without storage the page still works; it only forgets on a reload.

export function seatId() {
  const kept = read(localStorage, "duologue.seat");
  if (kept) return kept;
  const made = newId();
  write(localStorage, "duologue.seat", made);
  return made;
}

/** Read the token from the address, store it for this tab, and remove it from the address bar. */
export function accessToken() {
  const address = new URL(location.href);
  const given = address.searchParams.get("token");
  if (given === null) return read(sessionStorage, "duologue.token") ?? "";
  keepToken(given);
  address.searchParams.delete("token");
  history.replaceState(null, "", address);
  return given;
}

export function keepToken(token) {
  write(sessionStorage, "duologue.token", token);
}

/** The header with which a request shows this tab's token. */
export function bearer() {
  const token = accessToken();
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** The conversation of this tab. Its key is the newest that any tab of this browser has. */
export function keptConversation() {
  const own = parsed(read(sessionStorage, "duologue.conversation"));
  const shared = sharedConversation();
  return own && shared?.conversation === own.conversation ? { ...own, key: shared.key } : own;
}

/** The conversation of the browser: that of the tab which had one last. */
export function sharedConversation() {
  return parsed(read(localStorage, "duologue.conversation"));
}

export function keepConversation(conversation) {
  const shared = sharedConversation();
  const own = conversation ?? parsed(read(sessionStorage, "duologue.conversation")) ?? shared;
  write(sessionStorage, "duologue.conversation", conversation && JSON.stringify(conversation));
  if (conversation) write(localStorage, "duologue.conversation", JSON.stringify({ conversation: own.conversation, key: own.key }));
  else if (shared?.conversation === own?.conversation) write(localStorage, "duologue.conversation", null);
}

/** Messages that the server hasn't confirmed: {id, conversation, text}. */
export function keptUnsent() {
  try {
    return JSON.parse(read(sessionStorage, "duologue.unsent") ?? "[]");
  } catch {
    return [];
  }
}

export function keepUnsent(messages) {
  write(sessionStorage, "duologue.unsent", messages.length ? JSON.stringify(messages) : null);
}

/** A unique random id. */
export function newId() {
  return crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), hex).join("");
}

/** Was the microphone muted before a reload? */
export function wasMuted() {
  return read(sessionStorage, "duologue.muted") === "yes";
}

export function keepMuted(muted) {
  write(sessionStorage, "duologue.muted", muted ? "yes" : null);
}

export function kept(name) {
  return read(localStorage, `duologue.${name}`);
}

export function keep(name, value) {
  write(localStorage, `duologue.${name}`, value);
}

function parsed(text) {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return null;
  }
}

function read(storage, name) {
  try {
    return storage.getItem(name);
  } catch {
    return null;
  }
}

function write(storage, name, value) {
  try {
    if (value === null || value === undefined) storage.removeItem(name);
    else storage.setItem(name, value);
  } catch {
    // The storage is full or forbidden: nothing is stored.
  }
}

function hex(byte) {
  return byte.toString(16).padStart(2, "0");
}

// What a client remembers: its seat (a random id, permanent), the conversation with its key (of this tab, and of the
// browser, so that another tab can take over), and unconfirmed messages.
//
// Two clients of one page need two names. Rule: where the browser has no storage, all of it lives as long as the page.

export function createMemory(name = "duologue") {
  const tab = storageOf("sessionStorage", name);
  const browser = storageOf("localStorage", name);
  const memory = {
    seat() {
      const kept = browser.read("seat");
      if (kept) return kept;
      const made = newId();
      browser.write("seat", made);
      return made;
    },
    /** The conversation of this tab. Its key is the newest that any tab of this browser has. */
    conversation() {
      const own = parsed(tab.read("conversation"));
      const shared = memory.shared();
      return own && shared?.conversation === own.conversation ? { ...own, key: shared.key } : own;
    },
    /** The conversation of the browser: that of the tab which had one last. */
    shared: () => parsed(browser.read("conversation")),
    keepConversation(conversation) {
      const shared = memory.shared();
      const own = conversation ?? parsed(tab.read("conversation")) ?? shared;
      tab.write("conversation", conversation && JSON.stringify(conversation));
      if (conversation) browser.write("conversation", JSON.stringify({ conversation: own.conversation, key: own.key }));
      else if (shared?.conversation === own?.conversation) browser.write("conversation", null);
    },
    /** Messages that the server hasn't confirmed: {id, conversation, text}. */
    unsent: () => parsed(tab.read("unsent")) ?? [],
    keepUnsent: (messages) => tab.write("unsent", messages.length ? JSON.stringify(messages) : null),
    /** Was the microphone muted before a reload? */
    wasMuted: () => tab.read("muted") === "yes",
    keepMuted: (muted) => tab.write("muted", muted ? "yes" : null),
    kept: browser.read,
    keep: browser.write,
    tab,
  };
  return memory;
}

/** A unique random id. */
export function newId() {
  return crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), hex).join("");
}

function storageOf(kind, name) {
  const own = new Map(); // what the browser doesn't store: the storage is missing, full or forbidden
  return {
    read(key) {
      if (own.has(key)) return own.get(key);
      try {
        return globalThis[kind].getItem(`${name}.${key}`);
      } catch {
        return null;
      }
    },
    write(key, value) {
      own.delete(key);
      try {
        if (value === null || value === undefined) globalThis[kind].removeItem(`${name}.${key}`);
        else globalThis[kind].setItem(`${name}.${key}`, value);
      } catch {
        own.set(key, value ?? null);
      }
    },
  };
}

function parsed(text) {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return null;
  }
}

function hex(byte) {
  return byte.toString(16).padStart(2, "0");
}

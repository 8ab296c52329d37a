// How lanes look: the hue says whose state it is, the tone how important the state is. The offline timeline uses the
// same table.
//
// Rule: the tone `rest` is drawn as a line, all other tones as bars; `hatch` means waiting.

export const LANES = ["phase", "link", "user", "voice", "reply", "jobs"];
export const HUE_OF = { phase: "quiet", link: "blue", user: "teal", voice: "violet", reply: "amber", jobs: "rose", rule: "quiet" };

const TONES = {
  phase: {
    idle: "quiet rest", starting: "blue soft", listening: "teal faint", user_speaking: "teal full", thinking: "amber soft",
    working: "rose soft", speaking: "violet full", interrupted: "red soft", paused: "blue hatch", reconnecting: "blue full",
    error: "red full", ending: "blue faint",
  },
  link: {
    idle: "rest", up: "rest", preparing: "soft", suspended: "quiet hatch", renewing: "quiet soft", healing: "hatch",
    backing_off: "red soft", reconnecting: "full", faulted: "red full", terminating: "faint",
  },
  user: { quiet: "rest", talking: "full", settling: "soft", transcribing: "hatch" },
  voice: { silent: "rest", playing: "full", held: "hatch", stopping: "red full", hushed: "red soft" },
  reply: { none: "rest", committing: "faint", waiting: "soft", generating: "full", ready: "hatch", retrying: "red soft" },
  jobs: { none: "rest", absent: "rest", tool: "full", delegated: "soft", dispatched: "hatch" },
};

/** {hue, tone} of a state. Several jobs at the same time look like the first of them. */
export function lookOf(lane, state) {
  const told = TONES[lane]?.[state.split(/[,+]/)[0].trim()] ?? "faint";
  const [first, second] = told.split(" ");
  return second ? { hue: first, tone: second } : { hue: HUE_OF[lane], tone: first };
}

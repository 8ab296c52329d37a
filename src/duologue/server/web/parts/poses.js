// The positions of the two discs in each state: a table, in units of half the picture's width.
//
// `…X` is the distance from the middle, `…R` the radius, `…Fill` the opacity. The number of a colour says how much of
// it is mixed in. `ring` shows activity, `bars` a pause, `slash` that the user isn't heard, and `breath` is how much the
// discs move at rest.

const REST = {
  personX: 0.2, personR: 0.42, personFill: 0.5,
  agentX: 0.2, agentR: 0.42, agentFill: 0.5,
  amber: 0, rose: 0, blue: 0, red: 0, quiet: 0, ring: 0, bars: 0, slash: 0, breath: 1,
};

const pose = (changes) => ({ ...REST, ...changes });

export const POSES = {
  idle: pose({}),
  starting: pose({ personX: 0.1, agentX: 0.1, personFill: 0.4, agentFill: 0.4, blue: 0.8, ring: 1 }),
  reconnecting: pose({ personX: 0.1, agentX: 0.1, personFill: 0.4, agentFill: 0.4, blue: 0.8, ring: 1 }),
  listening: pose({ personX: 0.1, personR: 0.58, personFill: 0.92, agentX: 0.52, agentR: 0.25, agentFill: 0.6 }),
  user_speaking: pose({ personX: 0.1, personR: 0.58, personFill: 0.92, agentX: 0.52, agentR: 0.25, agentFill: 0.6 }),
  thinking: pose({ personX: 0.12, agentX: 0.12, personR: 0.4, agentR: 0.46, personFill: 0.5, agentFill: 0.7, amber: 0.94, ring: 1 }),
  working: pose({ personX: 0.1, agentX: 0.1, personR: 0.38, agentR: 0.46, personFill: 0.4, agentFill: 0.65, rose: 0.94, ring: 1 }),
  speaking: pose({ personX: 0.52, personR: 0.25, personFill: 0.6, agentX: 0.1, agentR: 0.58, agentFill: 0.92 }),
  both: pose({ personX: 0.3, personR: 0.44, personFill: 0.85, agentX: 0.28, agentR: 0.42, agentFill: 0.7 }),
  interrupted: pose({ personX: 0.12, personR: 0.58, personFill: 0.92, agentX: 0.58, agentR: 0.2, agentFill: 0.16, breath: 0 }),
  paused: pose({ personFill: 0.3, agentFill: 0.3, quiet: 0.85, bars: 1, breath: 0 }),
  error: pose({ personX: 0.44, agentX: 0.44, personR: 0.36, agentR: 0.36, personFill: 0.3, agentFill: 0.55, red: 0.85, breath: 0 }),
  hearing_loading: pose({ personX: 0.1, agentX: 0.1, personFill: 0.4, agentFill: 0.4, blue: 0.8, ring: 1 }),
  hearing_muted: pose({ personX: 0.1, personR: 0.5, personFill: 0.45, agentX: 0.52, agentR: 0.25, agentFill: 0.3, quiet: 0.9, slash: 1, breath: 0 }),
  hearing_broken: pose({ personX: 0.1, personR: 0.5, personFill: 0.5, agentX: 0.52, agentR: 0.25, agentFill: 0.4, red: 0.75, slash: 1, breath: 0 }),
  hearing_none: pose({ personX: 0.24, personR: 0.4, personFill: 0.7, agentX: 0.3, agentR: 0.36, agentFill: 0.55 }),
  ending: pose({ personX: 0.5, agentX: 0.5, personR: 0.32, agentR: 0.32, personFill: 0.2, agentFill: 0.2, quiet: 0.6, breath: 0 }),
  away: pose({ personX: 0.48, agentX: 0.48, personR: 0.34, agentR: 0.34, personFill: 0.4, agentFill: 0.12, quiet: 0.75, breath: 0 }),
};

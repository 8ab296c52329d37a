// Turns steps into lanes: which state each region was in, since when, and why.
//
// An update reads only the new steps. Rule: a lane is derived from the steps alone.

import { LANES } from "./looks.js";

export class Lanes {
  constructor() {
    this.reset(null);
  }

  reset(first) {
    this.first = first;
    this.count = 0;
    this.visits = Object.fromEntries(LANES.map((lane) => [lane, []]));
  }

  read(moments) {
    if (moments[0] !== this.first || moments.length < this.count) this.reset(moments[0]);
    for (; this.count < moments.length; this.count += 1) this.add(moments[this.count], this.count);
    return this.visits;
  }

  add(moment, step) {
    for (const lane of LANES) {
      const state = lane === "phase" ? moment.phase : moment.regions[lane];
      const visits = this.visits[lane];
      if (state !== undefined && visits.at(-1)?.state !== state) visits.push({ state, from: moment.at, cause: causeOf(moment), step });
    }
  }

  /** The state of a lane at this time, and its previous state: [visit, previous visit]. */
  at(lane, time) {
    const visits = this.visits[lane];
    const index = visits.findLastIndex(({ from }) => from <= time);
    return [visits[index] ?? null, visits[index - 1] ?? null];
  }
}

export function causeOf({ cause, event, fields }) {
  return cause ?? (event === "TimerFired" ? `timer:${fields?.timer}` : event);
}

/** The last step that happened at or before a time. */
export function stepAt(moments, time) {
  let low = 0;
  let high = moments.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (moments[middle].at <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}

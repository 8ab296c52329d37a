/** Plays the agent's voice by the clock, without a loudspeaker: the server is told what has been heard by now. */
export class ClockSound {}

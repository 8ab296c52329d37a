// Sound without a loudspeaker: a voice is played by the clock, and the server is told what would have been heard by now.
//
// It replaces the AudioContext and worklets/player.js in node, which has neither. Rule: it answers to the
// same messages with the same reports.

const REPORT_MS = 40;

export class ClockSound {
  context = null; // cues aren't played
  isRunning = true;
  failed = false;
  latencyMs = 0;

  async open() {
    return this;
  }

  voiceNode(rate) {
    return new ClockPlayer(rate);
  }
}

class ClockPlayer {
  constructor(rate) {
    this.rate = rate;
    this.port = { onmessage: () => {}, postMessage: (message) => this.take(message) };
    this.begin(0, 0);
  }

  begin(voice, from) {
    clearTimeout(this.timer);
    this.timer = 0;
    this.voice = voice;
    this.first = this.read = this.write = from; // in samples since the voice began
    this.held = this.ended = false;
  }

  take({ do: what, voice, from, samples }) {
    this.move();
    if (what === "forget") this.begin(0, 0);
    else if (what === "push" && voice >= this.voice) {
      if (voice > this.voice) this.begin(voice, from);
      this.write += samples.length;
    } else if (what === "start" && (voice > this.voice || this.write === this.first)) {
      const { held } = this;
      this.begin(voice, from);
      this.held = held && voice === this.voice;
    } else if (voice === this.voice) this.obey(what);
    this.since = performance.now();
    if (!this.timer && !this.held && this.read < this.write) this.timer = setTimeout(() => this.tick(), REPORT_MS);
    else if (this.ended && this.read >= this.write) this.finish();
  }

  obey(what) {
    if (what === "finish") this.ended = true;
    else if (what === "hold" || what === "resume") this.held = what === "hold";
    else if (what === "clear") {
      this.write = this.read;
      this.ended = false;
      this.post("stopped");
    }
    if (what === "hold") this.post("held");
  }

  /** Play until now. */
  move() {
    const now = performance.now();
    if (!this.held && this.read < this.write) this.read = Math.min(this.write, this.read + Math.round(((now - this.since) * this.rate) / 1000));
    this.since = now;
  }

  tick() {
    this.timer = 0;
    if (this.held) return;
    this.move();
    if (this.read < this.write) {
      this.post("position");
      this.timer = setTimeout(() => this.tick(), REPORT_MS);
    } else if (this.ended) this.finish();
  }

  finish() {
    this.ended = false;
    this.post("finished");
  }

  post(kind) {
    this.port.onmessage({ data: { kind, voice: this.voice, samples: this.read, level: 0 } });
  }
}

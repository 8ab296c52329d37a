// Playback in the audio thread: a ring buffer of samples at the voice's rate, read at the context's rate.
//
// Positions are in source samples since the start of the voice. Rule: after `clear` or `hold`, the next quantum (one
// call of `process`) fades out, then there is silence. The position that is posted then is exact.

import { phasesOf } from "./resample.js";

const CAPACITY = 1 << 20; // 43 s at 24 kHz; the server stays about one second ahead
const MASK = CAPACITY - 1;
const REPORT_S = 0.02;
const REFILL_S = 0.06; // buffered after an underrun before playback continues, so that it doesn't stutter

class Player extends AudioWorkletProcessor {
  constructor({ processorOptions: { rate } }) {
    super();
    this.rate = rate;
    this.phases = phasesOf(rate, sampleRate);
    this.ring = new Float32Array(CAPACITY);
    this.energy = 0;
    this.rendered = 0; // output samples since the last report
    this.begin(0, 0);
    this.port.onmessage = ({ data }) => this[data.do](data);
  }

  begin(voice, from) {
    this.voice = voice;
    this.first = from;
    this.read = from; // absolute: the next source sample
    this.write = from;
    this.phase = 0;
    this.held = false;
    this.ended = false; // no more chunks follow
    this.told = false;
    this.starved = false;
    this.leaving = ""; // "clear" or "hold", performed in the next quantum
    this.gain = 0;
  }

  /** The voices of the next conversation are counted from 1 again. */
  forget() {
    this.begin(0, 0);
  }

  push({ voice, from, samples }) {
    if (voice < this.voice) return;
    if (voice > this.voice) this.begin(voice, from);
    this.write = from; // a chunk that comes again replaces what came of it before
    for (let at = 0; at < samples.length; at += 1) this.ring[(from + at) & MASK] = samples[at] / 32768;
    this.write += samples.length;
    if (this.write - this.read > CAPACITY - 256) this.read = this.write - CAPACITY + 256;
  }

  /** Set the position of a voice's first sample. A voice that is held already stays held. */
  start({ voice, from }) {
    if (voice < this.voice || (voice === this.voice && this.write !== this.first)) return;
    const held = voice === this.voice && (this.held || this.leaving === "hold");
    this.begin(voice, from);
    this.held = held;
  }

  clear({ voice }) {
    if (voice === this.voice) this.leaving = "clear";
  }

  hold({ voice }) {
    if (voice === this.voice && !this.held) this.leaving = "hold";
  }

  resume({ voice }) {
    if (voice !== this.voice) return;
    this.held = false;
    if (this.leaving === "hold") this.leaving = "";
  }

  finish({ voice }) {
    if (voice === this.voice) this.ended = true;
  }

  process(inputs, [[out]]) {
    if (!this.held && this.voice && this.mayPlay(out.length)) this.render(out);
    if (this.leaving) this.leave();
    if (this.ended && !this.told && this.read >= this.write) {
      this.told = true;
      this.post("finished");
    }
    return true;
  }

  /** Is there enough sound for a quantum or, after an underrun, for REFILL_S? */
  mayPlay(length) {
    const ahead = this.write - this.read;
    if (this.ended) return ahead > 0;
    const needed = Math.ceil((length * this.phases.down) / this.phases.up) + this.phases.half;
    if (ahead < needed) {
      if (!this.starved && this.read > this.first) this.post("starved");
      this.starved = true;
      this.gain = 0;
      return false;
    }
    if (this.starved && this.read > this.first && ahead < REFILL_S * this.rate) return false;
    this.starved = false;
    return true;
  }

  render(out) {
    const target = this.leaving ? 0 : 1;
    const step = (target - this.gain) / out.length;
    for (let at = 0; at < out.length; at += 1) {
      this.gain += step;
      out[at] = this.sample() * this.gain;
      this.energy += out[at] * out[at];
      this.phase += this.phases.down;
      const whole = Math.floor(this.phase / this.phases.up);
      this.phase -= whole * this.phases.up;
      this.read = Math.min(this.read + whole, this.write);
    }
    this.gain = target;
    this.rendered += out.length;
    if (this.rendered >= REPORT_S * sampleRate) this.post("position");
  }

  sample() {
    const { half, taps, table } = this.phases;
    const row = this.phase * taps;
    const from = this.read - half + 1;
    let sum = 0;
    for (let tap = 0; tap < taps; tap += 1) {
      const place = from + tap;
      if (place >= this.first && place < this.write) sum += this.ring[place & MASK] * table[row + tap];
    }
    return sum;
  }

  leave() {
    const kind = this.leaving === "clear" ? "stopped" : "held";
    this.leaving = "";
    this.gain = 0;
    if (kind === "held") this.held = true;
    this.post(kind);
    if (kind === "stopped") {
      this.starved = true; // on purpose: no underrun is reported
      this.write = this.read;
      this.ended = false;
    }
  }

  post(kind) {
    const level = this.rendered ? Math.sqrt(this.energy / this.rendered) : 0;
    this.port.postMessage({ kind, voice: this.voice, samples: this.read, level });
    this.rendered = 0;
    this.energy = 0;
  }
}

registerProcessor("duologue-player", Player);

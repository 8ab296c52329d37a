// Plays the agent's voice: takes sound frames and play commands, and reports to the server what was heard.
//
// Chunks are numbered, and duplicates are dropped. A voice is one utterance; one with a higher number replaces the
// previous one. Rule: `played` reports what was rendered minus the base and output latency. `stopped` reports all that
// was rendered, because all of it will have been heard when the sound has stopped.

import { Cues } from "./cues.js";

const HEADER_BYTES = 12;
const VOICE = 1; // kinds of binary frames
const CUE = 2;
const AMBIENT = 3;
const TELL_MS = 40;
const BLOCKED_MS = 2000;

export class Player {
  constructor({ sound, send }) {
    this.sound = sound;
    this.send = send;
    this.cues = new Cues({ sound });
    this.node = null;
    this.pending = []; // messages for the worklet, until it is loaded
    this.rate = 24000;
    this.level = 0;
    this.toldAt = 0;
    this.begin(0);
  }

  begin(voice, chunk = 0, samples = 0) {
    this.voice = voice;
    this.chunk = chunk; // the last chunk that was received
    this.ends = [{ chunk, samples }]; // where each chunk ends, in samples since the voice began
    this.samples = samples; // rendered so far
    this.dropped = false;
    this.over = false;
  }

  /** A new conversation begins, and counts its voices from 1 again. */
  forget() {
    this.begin(0);
    this.post({ do: "forget" });
  }

  async open(rate) {
    this.rate = rate || this.rate;
    const opened = await this.sound.open();
    if (opened) this.cues.open(this.rate);
    if (!opened || this.node) return;
    this.node = this.sound.voiceNode(this.rate);
    this.node.port.onmessage = ({ data }) => this.heard(data);
    this.pending.splice(0).forEach((message) => this.node.port.postMessage(message));
  }

  /** One binary frame: u8 kind, u8 format (0: PCM), u16 (unused), u32 voice, u32 chunk, then PCM. */
  receive(buffer) {
    const view = new DataView(buffer);
    if (buffer.byteLength < HEADER_BYTES) return;
    const kind = view.getUint8(0);
    if (kind === CUE) this.cues.play(view.getUint32(4, true), floatsOf(buffer));
    else if (kind === AMBIENT) this.cues.setAmbient(floatsOf(buffer));
    else if (kind === VOICE) this.receiveVoice(view, buffer);
  }

  receiveVoice(view, buffer) {
    const voice = view.getUint32(4, true);
    const chunk = view.getUint32(8, true);
    if (!this.expects(voice, chunk)) return;
    const samples = new Int16Array(buffer.slice(HEADER_BYTES));
    const from = this.ends.at(-1).samples;
    this.chunk = chunk;
    this.ends.push({ chunk, samples: from + samples.length });
    this.push(voice, from, samples);
  }

  /** Is this chunk new? The first one of a voice begins it. */
  expects(voice, chunk) {
    if (voice < this.voice || (voice === this.voice && (chunk <= this.chunk || this.dropped))) return false;
    if (voice > this.voice) this.begin(voice);
    return true;
  }

  push(voice, from, samples) {
    this.cues.stop();
    this.post({ do: "push", voice, from, samples });
    this.watchBlocked(voice);
  }

  command({ action, voice, ms = 0 }) {
    if (action === "begin") this.beginAt(voice, ms);
    else if (action === "hold" && voice > this.voice) this.beginAt(voice, 0);
    if (action === "begin") return;
    if (action === "clear") this.clear(voice);
    else if (action === "finish" && voice > this.voice) this.tell("finished", voice, 0);
    else if (action === "finish" && voice === this.voice && this.over) this.finish(voice); // reported before, but the report was lost
    else if (voice === this.voice) this.pass(action, voice);
  }

  pass(action, voice) {
    if (action === "resume") this.cues.stop();
    this.post({ do: action, voice });
  }

  /** Start a voice in its middle: its first chunk begins at `ms`. */
  beginAt(voice, ms) {
    if (voice < this.voice || (voice === this.voice && this.chunk)) return;
    const samples = Math.round((ms * this.rate) / 1000);
    this.begin(voice, 0, samples);
    this.post({ do: "start", voice, from: samples });
  }

  clear(voice) {
    if (voice !== this.voice || this.dropped || !this.sound.isRunning || !this.node) {
      this.tell("stopped", voice, voice === this.voice ? this.ms(this.samples) : 0);
    }
    if (voice < this.voice) return;
    this.post({ do: "clear", voice: this.voice });
    if (voice > this.voice) this.begin(voice);
    this.dropped = true;
    this.level = 0;
  }

  heard({ kind, voice, samples, level }) {
    if (voice !== this.voice) return;
    this.samples = Math.max(samples, this.ends[0].samples); // a report may be older than the start
    this.level = kind === "position" ? level : 0;
    this.cues.duck(kind === "position");
    if (kind === "stopped") this.tell("stopped", voice, this.ms(samples));
    else if (kind === "finished") this.finish(voice);
    else if (kind !== "position" || performance.now() - this.toldAt >= TELL_MS) this.tellPlayed();
  }

  /** Everything is rendered. It counts as heard when the last sample has left the device. */
  finish(voice) {
    const total = this.ends.at(-1).samples;
    setTimeout(() => {
      if (voice !== this.voice || this.dropped) return;
      this.over = true;
      this.tell("finished", voice, this.ms(total));
    }, this.sound.latencyMs);
  }

  tellPlayed() {
    this.toldAt = performance.now();
    this.tell("played", this.voice, this.heardMs());
  }

  tell(type, voice, ms) {
    this.send(type, { voice, ms });
  }

  heardMs() {
    return Math.max(0, Math.round(this.ms(this.samples) - (this.over ? 0 : this.sound.latencyMs)));
  }

  ms(samples) {
    return Math.round((samples * 1000) / this.rate);
  }

  /** The position for hello after a lost connection. The voice is held until the server resumes or clears it, so that
   * the position is still right when the server uses it. What was rendered will be heard. */
  progress() {
    if (!this.voice) return null;
    if (!this.over && !this.dropped) this.post({ do: "hold", voice: this.voice });
    return { voice: this.voice, ms: this.ms(this.samples), chunk: this.chunk, held: true };
  }

  /** The position for hello after a reload: the end of the last played chunk, because a reload loses buffered sound. */
  bookmark() {
    if (!this.voice) return null;
    const last = this.ends.findLast(({ samples }) => samples <= this.samples) ?? this.ends[0];
    return { voice: this.voice, chunk: last.chunk, samples: last.samples, ms: this.ms(last.samples) };
  }

  restore({ voice, chunk, samples }) {
    this.begin(voice, chunk, samples);
  }

  watchBlocked(voice) {
    if (this.sound.isRunning || this.watching) return;
    this.watching = setTimeout(() => {
      this.watching = null;
      if (!this.sound.isRunning && voice === this.voice) this.send("unplayable", { voice });
    }, this.sound.failed ? 0 : BLOCKED_MS);
  }

  post(message) {
    if (this.node) this.node.port.postMessage(message);
    else if (!this.sound.failed) this.pending.push(message);
  }
}

function floatsOf(buffer) {
  return Float32Array.from(new Int16Array(buffer.slice(HEADER_BYTES)), (sample) => sample / 32768);
}

// Plays cues, such as the sound for waiting, and the ambient sound, beside the agent's voice.
//
// They have gains of their own, and nothing about them is reported to the server. Rule: a cue fades out at once when it
// is stopped or when sound of a voice arrives, and the ambient sound is quieter while a voice plays.

const STOP_S = 0.015;
const DUCK_S = 0.2;
const DUCKED = 0.4;

export class Cues {
  constructor({ sound }) {
    this.sound = sound;
    this.rate = 24000;
    this.output = null; // of all cues
    this.forget();
    this.samples = new Float32Array(0); // of the ambient sound
    this.ambient = null; // { source, gain } while it plays
    this.ducked = false;
  }

  forget() {
    this.cue = 0;
    this.gain = null; // of the current cue
    this.sources = [];
    this.until = 0; // when its last sound ends, on the context's clock
  }

  /** The context is open: an ambient sound that came before can start. */
  open(rate) {
    this.rate = rate;
    if (!this.ambient) this.startAmbient();
  }

  play(cue, samples) {
    const { context, isRunning } = this.sound;
    if (!context || !isRunning || !samples.length) return;
    if (cue !== this.cue) this.stop();
    this.cue = cue;
    this.output ??= this.gainTo(context.destination);
    this.gain ??= this.gainTo(this.output);
    const source = this.sourceOf(samples);
    source.connect(this.gain);
    const at = Math.max(context.currentTime, this.until);
    source.start(at);
    this.until = at + source.buffer.duration;
    this.sources.push(source);
  }

  stop() {
    const { context } = this.sound;
    if (this.gain) {
      const now = context.currentTime;
      this.gain.gain.setValueAtTime(this.gain.gain.value, now);
      this.gain.gain.linearRampToValueAtTime(0, now + STOP_S);
      for (const source of this.sources) source.stop(now + STOP_S);
    }
    this.forget();
  }

  get isSounding() {
    return this.until > (this.sound.context?.currentTime ?? 0);
  }

  /** Repeat this sound from now on. An empty one ends it. */
  setAmbient(samples) {
    this.ambient?.source.stop();
    this.ambient = null;
    this.samples = samples;
    this.startAmbient();
  }

  startAmbient() {
    const { context } = this.sound;
    if (!context || !this.samples.length) return;
    const source = this.sourceOf(this.samples);
    source.loop = true;
    const gain = this.gainTo(context.destination);
    source.connect(gain);
    source.start();
    this.ambient = { source, gain };
    this.ducked = false;
  }

  /** A voice plays, or it doesn't. */
  duck(on) {
    if (!this.ambient || on === this.ducked) return;
    this.ducked = on;
    this.ambient.gain.gain.setTargetAtTime(on ? DUCKED : 1, this.sound.context.currentTime, DUCK_S / 3);
  }

  /** The conversation is over. */
  end() {
    this.stop();
    this.setAmbient(new Float32Array(0));
  }

  gainTo(target) {
    const gain = this.sound.context.createGain();
    gain.connect(target);
    return gain;
  }

  sourceOf(samples) {
    const { context } = this.sound;
    const buffer = context.createBuffer(1, samples.length, this.rate);
    buffer.copyToChannel(samples, 0);
    const source = context.createBufferSource();
    source.buffer = buffer;
    return source;
  }
}

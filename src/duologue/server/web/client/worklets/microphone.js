// The microphone in the audio thread: any rate in, 16 kHz frames out, of 512 samples if the page doesn't ask for others.
//
// It doesn't know mute or push-to-talk: the page decides which frames are sent. Rule: each frame is complete, and is
// posted once, with its level.

import { Resampler } from "./resample.js";

const RATE_HZ = 16000;

class Microphone extends AudioWorkletProcessor {
  constructor() {
    super();
    this.resampler = new Resampler(sampleRate, RATE_HZ);
    this.size = 512;
    this.begin();
    this.mono = new Float32Array(128);
    this.port.onmessage = ({ data }) => (this.size = data);
  }

  process([channels]) {
    if (!channels?.length) return true;
    for (const sample of this.resampler.process(this.mixed(channels))) {
      this.energy += sample * sample;
      this.frame[this.filled] = Math.max(-32768, Math.min(32767, Math.round(sample * 32767)));
      this.filled += 1;
      if (this.filled === this.frame.length) this.post();
    }
    return true;
  }

  mixed(channels) {
    if (channels.length === 1) return channels[0];
    for (let at = 0; at < channels[0].length; at += 1) {
      this.mono[at] = channels.reduce((sum, channel) => sum + channel[at], 0) / channels.length;
    }
    return this.mono;
  }

  post() {
    const { frame } = this;
    this.port.postMessage({ frame, level: Math.sqrt(this.energy / frame.length) }, [frame.buffer]);
    this.begin();
  }

  begin() {
    this.frame = new Int16Array(this.size);
    this.filled = 0;
    this.energy = 0;
  }
}

registerProcessor("duologue-microphone", Microphone);

// Changes the sample rate: a table of windowed-sinc filters, one for each phase between two samples.
//
// Used by both worklets and by the tests. Rule: frequencies that the new rate can't represent are filtered
// out first, so there is no aliasing.

const ZEROS = 16; // zero crossings on each side: about -80 dB in the stop band
const PASS = 0.92; // of the lower of the two Nyquist frequencies
const BETA = 8;

export function phasesOf(from, to) {
  const common = gcd(from, to);
  const up = to / common;
  const down = from / common;
  const cutoff = Math.min(1, to / from) * PASS;
  const half = Math.ceil(ZEROS / cutoff);
  const taps = 2 * half;
  const table = new Float32Array(up * taps);
  for (let phase = 0; phase < up; phase += 1) {
    let sum = 0;
    for (let tap = 0; tap < taps; tap += 1) {
      const x = tap - half + 1 - phase / up;
      const value = sinc(cutoff * x) * kaiser(x / half);
      table[phase * taps + tap] = value;
      sum += value;
    }
    for (let tap = 0; tap < taps; tap += 1) table[phase * taps + tap] /= sum;
  }
  return { up, down, half, taps, table };
}

/** Converts a stream from one rate to another. The returned array is reused by the next call. */
export class Resampler {
  constructor(from, to) {
    this.phases = phasesOf(from, to);
    this.held = new Float32Array(this.phases.taps);
    this.heldLength = this.phases.half - 1; // silence before the first sample
    this.at = 0; // index in `held` of the first input that the next output needs
    this.phase = 0;
    this.out = new Float32Array(256);
  }

  process(block) {
    const { up, down, taps, table } = this.phases;
    const length = this.heldLength + block.length;
    if (this.held.length < length) this.held = grown(this.held, length * 2);
    const held = this.held;
    held.set(block, this.heldLength);
    let count = 0;
    while (this.at + taps <= length) {
      let sum = 0;
      const row = this.phase * taps;
      for (let tap = 0; tap < taps; tap += 1) sum += held[this.at + tap] * table[row + tap];
      if (count === this.out.length) this.out = grown(this.out, count * 2);
      this.out[count] = sum;
      count += 1;
      this.phase += down;
      const whole = Math.floor(this.phase / up);
      this.at += whole;
      this.phase -= whole * up;
    }
    const used = Math.min(this.at, length);
    held.copyWithin(0, used, length);
    this.heldLength = length - used;
    this.at -= used;
    return this.out.subarray(0, count);
  }
}

function grown(array, length) {
  const larger = new Float32Array(length);
  larger.set(array);
  return larger;
}

function gcd(a, b) {
  return b ? gcd(b, a % b) : a;
}

function sinc(x) {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function kaiser(x) {
  return Math.abs(x) >= 1 ? 0 : bessel(BETA * Math.sqrt(1 - x * x)) / bessel(BETA);
}

function bessel(x) {
  let sum = 1;
  let term = 1;
  for (let n = 1; n < 32; n += 1) {
    term *= (x / (2 * n)) ** 2;
    sum += term;
  }
  return sum;
}

"""The sound of a measured page: a scripted microphone, and the times at which the browser's audio thread rendered the
sound.

`SCRIPT` runs in the page before the page's own scripts. The times come from the audio thread, so a busy page doesn't
change them. The page and the server use the same clock. Rule: the page gets the recording sample by sample, in real
time.
"""

from __future__ import annotations

import base64
import math
from collections.abc import AsyncIterator
from dataclasses import dataclass

import numpy as np

from duologue.audio.frames import Samples, to_pcm, to_samples
from duologue.ports.sound import Sound, Word

RATE_HZ = 16_000
VOICE_HZ = 24_000
TONE_HZ = 440
TONE_MS = 240
SCRIPT = """(() => {
  if (!navigator.mediaDevices) return; // a page that is still blank
  const RATE_HZ = 16000;
  const PROCESSORS = `
    const SILENT_S = 0.05;
    // Tells when this context has rendered the time that was posted.
    registerProcessor("bench-clock", class extends AudioWorkletProcessor {
      constructor() {
        super();
        this.until = Infinity;
        this.port.onmessage = ({ data }) => (this.until = data);
      }
      process() {
        if (currentTime + 128 / sampleRate >= this.until) {
          this.until = Infinity;
          this.port.postMessage(Date.now());
        }
        return true;
      }
    });
    // Tells when sound begins after a silence.
    registerProcessor("bench-first-sound", class extends AudioWorkletProcessor {
      constructor() {
        super();
        this.heardAt = -Infinity;
      }
      process([[sound]]) {
        if (sound?.some((sample) => Math.abs(sample) > 1e-4)) {
          if (currentTime - this.heardAt > SILENT_S) this.port.postMessage(Date.now());
          this.heardAt = currentTime;
        }
        return true;
      }
    });`;
  const processors = URL.createObjectURL(new Blob([PROCESSORS], { type: "text/javascript" }));
  let context = null;
  let out = null;
  let clock = null;
  let current = null;

  navigator.mediaDevices.getUserMedia = async () => {
    context ??= new AudioContext({ sampleRate: 48000 });
    await context.resume();
    if (!clock) {
      await context.audioWorklet.addModule(processors);
      clock = await attached(context, "bench-clock");
    }
    out = context.createMediaStreamDestination();
    const quiet = new ConstantSourceNode(context, { offset: 0 });
    quiet.connect(out);
    quiet.connect(clock);
    quiet.start();
    return out.stream;
  };

  /** A processor whose output is silent: browsers run only what is connected to the destination. */
  async function attached(context, name) {
    const node = new AudioWorkletNode(context, name);
    node.connect(new GainNode(context, { gain: 0 })).connect(context.destination);
    return node;
  }

  window.bench = {
    starts: [],
    /** Note when the player renders the first sample of a voice. */
    async watch() {
      const { player } = window.duologue;
      if (window.bench.tap === player.node) return;
      window.bench.tap = player.node;
      await player.sound.context.audioWorklet.addModule(processors);
      const tap = await attached(player.sound.context, "bench-first-sound");
      tap.port.onmessage = ({ data }) => window.bench.starts.push(data);
      player.node.connect(tap);
    },
    /** Play 16-bit samples at 16 kHz. Resolves with the time at which the sample at `endMs` was rendered. */
    say({ pcm, endMs }) {
      const samples = new Int16Array(Uint8Array.from(atob(pcm), (letter) => letter.charCodeAt(0)).buffer);
      const buffer = new AudioBuffer({ length: samples.length, sampleRate: RATE_HZ });
      buffer.getChannelData(0).set(Float32Array.from(samples, (sample) => sample / 32768));
      current = new AudioBufferSourceNode(context, { buffer });
      current.connect(out);
      const at = context.currentTime + 0.1;
      const spoken = new Promise((resolve) => (clock.port.onmessage = ({ data }) => resolve(data)));
      clock.port.postMessage(at + endMs / 1000);
      current.start(at);
      return spoken;
    },
    hush() {
      current?.stop();
    },
  };
})();"""


def script_argument(recording: Samples, end_ms: int) -> dict[str, object]:
    """The argument of `bench.say`."""
    return {"pcm": base64.b64encode(to_pcm(recording)).decode(), "endMs": end_ms}


@dataclass(frozen=True, slots=True)
class ToneVoice:
    """A voice that says everything at once, as a short tone: its first sample can be seen in the page."""

    async def speak(self, text: str) -> AsyncIterator[Sound]:
        at = np.arange(VOICE_HZ * TONE_MS // 1000) / VOICE_HZ
        pcm = to_pcm((0.3 * np.sin(2 * math.pi * TONE_HZ * at)).astype(np.float32))
        yield Sound(TONE_MS, pcm, VOICE_HZ, words=(Word(text, 0, TONE_MS),))


class ArrivedSound:
    """The microphone's sound as it arrived at the server, with the time of each frame."""

    def __init__(self) -> None:
        self._frames: list[Samples] = []
        self._at: list[float] = []

    def add(self, pcm: bytes, at_ms: float) -> None:
        self._frames.append(to_samples(pcm))
        self._at.append(at_ms)

    @property
    def samples(self) -> Samples:
        return np.concatenate(self._frames) if self._frames else np.empty(0, np.float32)

    def place_of(self, recording: Samples) -> int | None:
        """At which index of the sound that arrived the recording begins. It may be negative. None if too little
        has arrived."""
        arrived = self.samples
        if arrived.size < RATE_HZ // 2 or not recording.any():
            return None
        size = 1 << (arrived.size + recording.size - 1).bit_length()
        product = np.fft.irfft(np.fft.rfft(arrived, size) * np.conj(np.fft.rfft(recording, size)), size)
        best = int(np.argmax(product))
        return best if best < arrived.size else best - size

    def arrival_of(self, sample: int) -> float | None:
        """When the frame with this sample arrived; None if it never did."""
        ends = np.cumsum([frame.size for frame in self._frames])
        place = int(np.searchsorted(ends, sample, side="right"))
        return self._at[place] if place < len(self._at) else None

    def samples_at(self, at_ms: float) -> int:
        """How many samples had arrived at this time."""
        return sum(frame.size for frame, at in zip(self._frames, self._at, strict=True) if at <= at_ms)

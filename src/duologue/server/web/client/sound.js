// The page's one AudioContext. It is requested at 48 kHz, but any rate that the browser gives works.
//
// It opens after a user gesture if the browser requires one, and reports when sound is blocked. Rule: microphone and
// player share this context, so the browser's echo canceller sees what is played.

const RATE_HZ = 48000;

export class Sound {
  constructor({ changed, worklets = new URL("./worklets/", import.meta.url) }) {
    this.context = null;
    this.worklets = worklets; // the folder of the scripts that run in the audio thread
    this.changed = changed; // called with "off", "running" or "blocked"
    this.opening = null;
    this.failed = false;
  }

  /** The context with both worklets loaded, or null if the browser has no audio. */
  open() {
    this.opening ??= this.create();
    if (this.context?.state === "suspended") this.context.resume().catch(() => {});
    return this.opening;
  }

  async create() {
    try {
      this.context = new AudioContext({ sampleRate: RATE_HZ, latencyHint: "interactive" });
      this.context.addEventListener("statechange", () => this.tell());
      await Promise.all(["microphone", "player"].map((name) => this.load(this.context, name)));
    } catch {
      this.failed = true;
      this.context = null;
    }
    this.tell();
    return this.context;
  }

  /** A second context at the device's own rate, for a microphone that the first one can't use. */
  async another() {
    const context = new AudioContext();
    await this.load(context, "microphone");
    return context;
  }

  /** Plays what is posted to its port, and posts there what was rendered. */
  voiceNode(rate) {
    const options = { numberOfInputs: 0, outputChannelCount: [1], processorOptions: { rate } };
    const node = new AudioWorkletNode(this.context, "duologue-player", options);
    node.connect(this.context.destination);
    return node;
  }

  load(context, name) {
    return context.audioWorklet.addModule(new URL(`${name}.js`, this.worklets));
  }

  get isRunning() {
    return this.context?.state === "running";
  }

  /** The latency between the worklet and the loudspeaker, in ms. */
  get latencyMs() {
    const { baseLatency = 0, outputLatency = 0 } = this.context ?? {};
    return Math.max(0, (baseLatency + outputLatency) * 1000);
  }

  tell() {
    this.changed(this.failed ? "off" : this.isRunning ? "running" : "blocked");
  }
}

/** Browsers allow sound after a user gesture, and phones stop it for a call or behind a locked screen. So try again on each
 * gesture, and when the page is seen again, until sound works. Returns a function that ends it. */
export function resumeOnGesture(sound) {
  const resume = () => {
    if (sound.context && !sound.isRunning) sound.context.resume().catch(() => {});
  };
  const gestures = ["pointerdown", "keydown", "visibilitychange"];
  for (const gesture of gestures) document.addEventListener(gesture, resume, { passive: true });
  return () => gestures.forEach((gesture) => document.removeEventListener(gesture, resume));
}

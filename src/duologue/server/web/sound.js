// The page's one AudioContext: asked for at 48 kHz, whatever rate it gets is right.
//
// Opens after a gesture where the browser wants one, and says when it is blocked. Rule: microphone and player
// share this context, so the browser's echo canceller sees what is played.

const RATE_HZ = 48000;

export class Sound {
  constructor({ changed }) {
    this.context = null;
    this.changed = changed; // "off", "running" or "blocked"
    this.opening = null;
    this.failed = false;
  }

  /** The context with both worklets loaded, or null where there is no sound at all. */
  open() {
    this.opening ??= this.create();
    if (this.context?.state === "suspended") this.context.resume().catch(() => {});
    return this.opening;
  }

  async create() {
    try {
      this.context = new AudioContext({ sampleRate: RATE_HZ, latencyHint: "interactive" });
      this.context.addEventListener("statechange", () => this.tell());
      await Promise.all(
        ["microphone", "player"].map((name) =>
          this.context.audioWorklet.addModule(new URL(`worklets/${name}.js`, import.meta.url)),
        ),
      );
    } catch {
      this.failed = true;
      this.context = null;
    }
    this.tell();
    return this.context;
  }

  /** One more, at the device's own rate, for a microphone that does not fit into the first. */
  async another() {
    const context = new AudioContext();
    await context.audioWorklet.addModule(new URL("worklets/microphone.js", import.meta.url));
    return context;
  }

  get isRunning() {
    return this.context?.state === "running";
  }

  /** Between the worklet and the ear, in ms. */
  get latencyMs() {
    const { baseLatency = 0, outputLatency = 0 } = this.context ?? {};
    return Math.max(0, (baseLatency + outputLatency) * 1000);
  }

  tell() {
    this.changed(this.failed ? "off" : this.isRunning ? "running" : "blocked");
  }
}

/** Browsers let a page make sound after any gesture; ask again on each until it does. */
export function resumeOnGesture(sound) {
  const resume = () => {
    if (sound.context && !sound.isRunning) sound.context.resume().catch(() => {});
  };
  for (const gesture of ["pointerdown", "keydown"]) document.addEventListener(gesture, resume, { passive: true });
}

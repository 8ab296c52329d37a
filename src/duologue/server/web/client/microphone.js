// Opens the microphone with the browser's echo cancellation, and sends its frames.
//
// A frame is sent only while the gate is open: hands-free and not muted, or the talk button is held.
// Rule: when the gate closes, half a second of silence is sent, so that voice detection notices the end.

const CONSTRAINTS = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 };
const TAIL = 8192; // samples

export class Microphone {
  constructor({ sound, send, changed }) {
    this.sound = sound;
    this.send = send; // sends a frame
    this.changed = changed; // called with "off", "asking", "on", "denied", "absent", "insecure", "unplugged" or "failed"
    this.stream = null;
    this.level = 0;
    this.isOpen = false; // is the gate open?
    this.isGone = false; // was the device unplugged, and not closed since?
    this.tail = 0;
    this.frames = 0;
  }

  async open() {
    if (this.stream) return true;
    if (!globalThis.navigator?.mediaDevices?.getUserMedia) return this.fail(globalThis.isSecureContext === false ? "insecure" : "absent");
    this.isGone = false;
    this.changed("asking");
    try {
      this.stream = await navigator.mediaDevices.getUserMedia({ audio: CONSTRAINTS });
    } catch (error) {
      return this.fail(statusOf(error));
    }
    try {
      await this.connect(await this.sound.open());
    } catch {
      return this.fail("failed");
    }
    this.changed("on");
    return true;
  }

  /** Connect to the page's AudioContext. In a browser that can't mix two sample rates, the microphone gets its own. */
  async connect(context) {
    const [track] = this.stream.getAudioTracks();
    track.addEventListener("ended", () => this.unplug());
    try {
      this.source = context.createMediaStreamSource(this.stream);
    } catch {
      context = await this.sound.another();
      this.source = context.createMediaStreamSource(this.stream);
    }
    this.listen(context);
  }

  listen(context) {
    this.node = new AudioWorkletNode(context, "duologue-microphone", { numberOfOutputs: 1 });
    this.node.port.onmessage = ({ data }) => this.take(data);
    // Browsers don't run an audio graph without a destination.
    this.silence = new GainNode(context, { gain: 0 });
    this.source.connect(this.node).connect(this.silence).connect(context.destination);
  }

  take({ frame, level }) {
    this.level = level;
    this.frames += 1;
    if (this.isOpen) this.send(frame.buffer);
    else if (this.tail > 0) {
      this.tail -= frame.length;
      this.send(new Int16Array(frame.length).buffer);
    }
  }

  gate(open) {
    if (this.isOpen && !open) this.tail = TAIL;
    this.isOpen = open;
  }

  /** The device is gone, such as a headset. As soon as the browser has another one, it is opened. */
  unplug() {
    this.fail("unplugged");
    const { mediaDevices } = navigator;
    mediaDevices.addEventListener("devicechange", () => this.isGone && this.open(), { once: true });
    this.isGone = true;
  }

  close() {
    this.fail("off");
  }

  fail(status) {
    this.stream?.getTracks().forEach((track) => track.stop());
    this.source?.disconnect();
    this.node?.disconnect();
    this.stream = this.source = this.node = null;
    this.level = 0;
    this.isGone = false;
    this.changed(status);
    return false;
  }
}

function statusOf(error) {
  if (error.name === "NotAllowedError" || error.name === "SecurityError") return "denied";
  return error.name === "NotFoundError" || error.name === "OverconstrainedError" ? "absent" : "failed";
}

// Opus over the socket, in browsers with WebCodecs: stands between the socket, the microphone and the player.
//
// Loaded only where it can be used, and the server may still say PCM. A frame has packets of 20 ms, and says how many
// samples its chunk has; the last of them come with later packets. Rule: each sample is given to the player at its place
// in the voice, and a chunk counts as received once all its samples are there. If the browser's codec fails, the client
// connects again without it, and the server sends what is missing as PCM.

const INPUT_HZ = 16000;
const OUTPUT_HZ = 24000;
const PACKET = OUTPUT_HZ / 50; // samples of a packet
const PACKET_US = 20000;
const FRAME = INPUT_HZ / 50; // samples of the microphone's frames: one packet each
const FRAME_PCM = 512; // the same for PCM
const BITS_PER_S = 32000;
const HEADER_BYTES = 16;
const CUE = 2; // the kind of a frame
const NEW = 2; // the format of a frame with which a stream of packets begins
const PROBE_MS = 1000;
const QUEUED_BYTES_MAX = 4000; // if the socket is slow, drop audio: at most a second is queued
const SILENCE = new Uint8Array([0xf8, 0xff, 0xfe]); // a packet
const DECODER = { codec: "opus", sampleRate: OUTPUT_HZ, numberOfChannels: 1 };
const ENCODER = {
  codec: "opus",
  sampleRate: INPUT_HZ,
  numberOfChannels: 1,
  bitrate: BITS_PER_S,
  // Without DTX: browsers leave silent packets out and don't say so, and the server would hear the end of a turn late.
  opus: { application: "lowdelay", complexity: 3, frameDuration: PACKET_US, signal: "voice" },
};

/** Opus for this client, as far as the browser really has it. That is tried out, so the first sound doesn't wait for it. */
export async function openOpus(client) {
  const [input, output] = await Promise.all([encodes(), decodes()].map((trial) => within(trial).catch(() => false)));
  return new OpusSound(client, { input: input ? ["opus"] : [], output: output ? ["opus"] : [] });
}

async function encodes() {
  let packets = 0;
  const encoder = new AudioEncoder({ output: () => (packets += 1), error: () => {} });
  encoder.configure(ENCODER);
  give(encoder, new Int16Array(FRAME).buffer, 0);
  await encoder.flush();
  encoder.close();
  return packets > 0;
}

/** Every sample must come, at a rate that can be halved: a decoder that skips some by itself can't be used. */
async function decodes() {
  return (await decoded([SILENCE])).length === PACKET;
}

function within(trial) {
  return Promise.race([trial, new Promise((resolve) => setTimeout(resolve, PROBE_MS))]);
}

class OpusSound {
  constructor(client, formats) {
    this.client = client;
    this.formats = formats; // what this browser can: offered in hello
    this.stream = null; // of the voice that comes
    this.encoder = null; // if the server takes Opus
    this.cueing = Promise.resolve(); // cues are decoded one after another
    this.stops = 0; // how often cues were silenced
    this.isStarting = false; // a cue starts, and silences the one before
    this.standBetween(client);
    client.on("ready", ({ audio }) => this.agree(audio ?? {}));
  }

  /** Put this object between the parts of the client. Whatever isn't Opus passes unchanged. */
  standBetween({ player, socket, microphone }) {
    const around = (part, name, make) => (part[name] = make(part[name].bind(part)));
    around(player, "receive", (pass) => (frame) => (new Uint8Array(frame)[1] ? this.receive(frame) : pass(frame)));
    around(player, "command", (pass) => (payload) => this.isLate(payload) || pass(payload));
    around(player.cues, "stop", (pass) => () => {
      if (!this.isStarting) this.stops += 1;
      pass();
    });
    this.sendPacket = socket.sendFrame.bind(socket);
    around(socket, "sendFrame", (pass) => (frame) => (this.encoder ? this.encode(frame) : pass(frame)));
    around(microphone, "listen", (pass) => (context) => {
      pass(context);
      this.setFrame();
    });
  }

  /** For hello. What was received of the voice and isn't complete will be sent again. */
  offer() {
    this.stream?.close();
    this.stream = null;
    return this.formats;
  }

  /** The server's choice. The decoder of a new connection knows nothing of the packets before. */
  agree({ input }) {
    if (this.encoder) close(this.encoder);
    this.encoder = input === "opus" ? this.newEncoder() : null;
    this.time = 0;
    this.setFrame();
  }

  fail(direction) {
    this.formats = { ...this.formats, [direction]: [] };
    this.client.socket.connect();
  }

  // -- The microphone

  newEncoder() {
    const encoder = new AudioEncoder({ output: (packet) => encoder === this.encoder && this.post(packet), error: () => this.fail("input") });
    encoder.configure(ENCODER);
    return encoder;
  }

  setFrame() {
    this.client.microphone.node?.port.postMessage(this.encoder ? FRAME : FRAME_PCM);
  }

  encode(frame) {
    if (this.client.socket.socket?.bufferedAmount >= QUEUED_BYTES_MAX || this.encoder.state === "closed") return;
    give(this.encoder, frame, this.time);
    this.time += (frame.byteLength / 2 / INPUT_HZ) * 1e6;
  }

  /** A frame with one packet: u8 1, then the packet. */
  post(packet) {
    const frame = new Uint8Array(1 + packet.byteLength);
    frame[0] = 1;
    packet.copyTo(frame.subarray(1));
    this.sendPacket(frame.buffer);
  }

  // -- The agent's voice, and cues

  /** A frame: u8 kind, u8 format, u16 samples to skip, u32 voice or cue, u32 chunk, u32 samples, then u16 size and bytes of
   * each packet. */
  receive(buffer) {
    const view = new DataView(buffer);
    const packets = [];
    for (let at = HEADER_BYTES; at < buffer.byteLength; at += 2 + packets.at(-1).length) {
      packets.push(new Uint8Array(buffer, at + 2, view.getUint16(at, true)));
    }
    const [number, chunk, samples] = [4, 8, 12].map((at) => view.getUint32(at, true));
    const skip = view.getUint16(2, true);
    if (view.getUint8(0) === CUE) this.playCue(number, skip, samples, packets);
    else this.receiveVoice({ voice: number, chunk, samples, packets, skip, isNew: view.getUint8(1) === NEW });
  }

  /** A stream may end in the middle of a voice, if the voice has run out of sound: the next one begins where it ends. */
  receiveVoice(frame) {
    const { voice, chunk, samples, packets, skip, isNew } = frame;
    const { player } = this.client;
    if (this.stream?.postpones(voice, isNew, () => this.receiveVoice(frame))) return;
    if (isNew) {
      this.stream?.close();
      this.stream = player.expects(voice, chunk) ? new VoiceStream({ player, voice, skip, failed: () => this.fail("output") }) : null;
    }
    if (this.stream?.voice === voice) this.stream.add(chunk, samples, packets);
  }

  /** Does this command wait for packets that are being decoded? Only the end of a voice does. */
  isLate(payload) {
    return payload.action === "finish" && this.stream?.postpones(payload.voice, true, () => this.client.player.command(payload));
  }

  playCue(cue, skip, samples, packets) {
    const { stops } = this;
    const { cues } = this.client.player;
    this.cueing = Promise.all([decoded(packets), this.cueing])
      .then(([all]) => {
        if (stops !== this.stops) return;
        this.isStarting = true;
        cues.play(cue, Float32Array.from(all.slice(skip, skip + samples)));
        this.isStarting = false;
      })
      .catch(() => {}); // a cue that can't be decoded is left out
  }
}

/** The packets of one voice, from a chunk on, to samples at their places. */
class VoiceStream {
  constructor({ player, voice, skip, failed }) {
    this.player = player;
    this.voice = voice;
    this.skip = skip; // decoded samples before the first one of the voice
    this.at = this.end = player.ends.at(-1).samples; // where the next sample belongs, and where the newest chunk ends
    this.chunks = []; // that aren't complete
    this.waiting = 0; // packets that aren't decoded
    this.count = 0;
    this.later = []; // what waits for them
    this.decoder = new AudioDecoder({ output: (data) => this.take(samplesOf(data)), error: failed });
    this.decoder.configure(DECODER);
  }

  add(chunk, samples, packets) {
    if (this.isClosed) return;
    this.end += samples;
    if (samples) this.chunks.push({ chunk, samples: this.end });
    for (const packet of packets) this.decoder.decode(packetOf(packet, this.count++));
    this.waiting += packets.length;
  }

  /** Must this be done after all packets of this voice? If so, it will be, and so is everything that follows it. */
  postpones(voice, isLast, perform) {
    const isLater = voice === this.voice && !this.isClosed && (this.later.length > 0 || (isLast && this.waiting > 0));
    if (isLater) this.later.push(perform);
    return isLater;
  }

  get isClosed() {
    return this.decoder.state === "closed";
  }

  take(samples) {
    const { player, voice } = this;
    if (player.voice !== voice || player.dropped) return this.close();
    const own = samples.subarray(this.skip, this.skip + this.end - this.at); // after the last chunk there is padding
    this.skip = 0; // it is less than a packet
    if (own.length) player.push(voice, this.at, pcmOf(own));
    this.at += own.length;
    this.note();
  }

  note() {
    const { player } = this;
    while (this.chunks[0]?.samples <= this.at) {
      player.ends.push(this.chunks[0]);
      player.chunk = this.chunks.shift().chunk;
    }
    this.waiting -= 1;
    if (!this.waiting) this.later.splice(0).forEach((perform) => perform());
  }

  close() {
    close(this.decoder);
  }
}

// -- WebCodecs

function packetOf(data, number) {
  return new EncodedAudioChunk({ type: "key", timestamp: number * PACKET_US, data });
}

/** 16-bit PCM to an encoder. */
function give(encoder, pcm, timestamp) {
  const data = new AudioData({ format: "s16", sampleRate: INPUT_HZ, numberOfFrames: pcm.byteLength / 2, numberOfChannels: 1, timestamp, data: pcm });
  encoder.encode(data);
  data.close();
}

/** All samples of these packets. */
async function decoded(packets) {
  const samples = [];
  const decoder = new AudioDecoder({ output: (data) => samples.push(...samplesOf(data)), error: () => {} });
  decoder.configure(DECODER);
  packets.forEach((packet, number) => decoder.decode(packetOf(packet, number)));
  await decoder.flush();
  decoder.close();
  return samples;
}

/** Browsers decode at 48 kHz. A voice has nothing above 12 kHz, so every second sample has all of it. */
function samplesOf(data) {
  const step = Math.round(data.sampleRate / OUTPUT_HZ);
  const all = new Float32Array(data.numberOfFrames);
  data.copyTo(all, { planeIndex: 0, format: "f32-planar" });
  data.close();
  const samples = new Float32Array(all.length / step);
  for (let at = 0; at < samples.length; at += 1) samples[at] = all[at * step];
  return samples;
}

function pcmOf(samples) {
  const pcm = new Int16Array(samples.length);
  for (let at = 0; at < pcm.length; at += 1) pcm[at] = Math.max(-32768, Math.min(32767, Math.round(samples[at] * 32768)));
  return pcm;
}

function close(codec) {
  if (codec.state !== "closed") codec.close();
}

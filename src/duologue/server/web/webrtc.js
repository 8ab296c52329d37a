// The sound of the page over WebRTC, beside the socket: offers a connection, plays it, and says what was heard.
//
// Offers, answers and everything but sound go over the socket. The server says which way the sound goes, and the page
// follows. Rule: whatever fails here, the sound goes over the socket, and the next attempt comes later.

const TELL_MS = 100; // between two reports while the agent is heard
const REST_MS = 1000; // and while it isn't
const LINGER_MS = 1500; // after a sound, so that its end is reported
const HEAL_MS = 2000; // how long a disconnected network may take to recover by itself
const RETRY_MS = [3000, 10000, 30000, 60000];
const CLOCKS_PER_MS = 48;
const KEPT_FRAMES = 160; // of the microphone, at least 3 s: repeated over the socket if WebRTC fails
const BYTES_PER_MS = 32;
const QUIET = 0.0005; // below this, nothing is heard

export class PeerSound {
  constructor({ socket, microphone, player, sound }) {
    this.socket = socket;
    this.microphone = microphone;
    this.player = player;
    this.sound = sound;
    this.carrier = "socket";
    this.connection = null;
    this.kept = []; // the newest frames of the microphone
    this.heard = null; // {voice, ms}: what the server knows that was heard over WebRTC
    this.servers = null;
    this.attempt = 0;
    this.isWanted = false;
  }

  /** Called when the page changes: `wanted` while a conversation runs on an open socket. */
  follow(wanted, offered) {
    this.servers = offered?.iceServers ?? null;
    const now = Boolean(wanted && this.servers && window.RTCPeerConnection && preferred() !== "socket");
    if (now === this.isWanted) return;
    this.isWanted = now;
    if (now) this.connect();
    else this.close();
  }

  /** A message of the server. */
  take({ type, payload }) {
    if (type === "duologue.webrtc") this.accept(payload.sdp);
    else if (type === "duologue.heard") this.heard = payload;
    else if (type === "duologue.carrier") this.use(payload);
    else if (type === "duologue.error" && payload.code === "webrtc_refused") this.fail(payload.reason === "no_webrtc");
  }

  async connect() {
    clearTimeout(this.timer);
    this.drop();
    const connection = new RTCPeerConnection({ iceServers: this.servers });
    this.connection = connection;
    connection.ontrack = ({ receiver, streams, track }) => this.play(connection, receiver, streams[0] ?? new MediaStream([track]));
    connection.oniceconnectionstatechange = () => this.watch(connection);
    try {
      this.track = this.microphone.stream?.getAudioTracks()[0]?.clone() ?? null;
      if (this.track) this.track.enabled = this.microphone.isOpen;
      if (this.track) connection.addTrack(this.track, new MediaStream([this.track]));
      else connection.addTransceiver("audio", { direction: "recvonly" });
      await connection.setLocalDescription();
      await gathered(connection, this.servers.length > 0);
      if (connection === this.connection) this.socket.send("webrtc", { sdp: connection.localDescription.sdp });
    } catch {
      if (connection === this.connection) this.fail();
    }
  }

  async accept(sdp) {
    const { connection } = this;
    try {
      await connection?.setRemoteDescription({ type: "answer", sdp });
    } catch {
      if (connection === this.connection) this.giveBack();
    }
  }

  /** Browsers may refuse to play before the user does something. Then the sound stays on the socket. */
  async play(connection, receiver, stream) {
    this.receiver = receiver;
    this.audio = new Audio();
    this.audio.srcObject = stream;
    try {
      await this.audio.play();
      const context = await this.sound.open();
      this.analyser = context && new AnalyserNode(context, { fftSize: 1024 });
      this.source = context?.createMediaStreamSource(stream);
      this.source?.connect(this.analyser);
    } catch {
      if (connection === this.connection) this.giveBack();
    }
  }

  /** How loud the agent is now. */
  level() {
    if (!this.analyser) return 0;
    this.samples ??= new Float32Array(1024);
    this.analyser.getFloatTimeDomainData(this.samples);
    return Math.sqrt(this.samples.reduce((sum, sample) => sum + sample * sample, 0) / this.samples.length);
  }

  watch(connection) {
    if (connection !== this.connection) return;
    clearTimeout(this.healing);
    const state = connection.iceConnectionState;
    if (state === "failed") this.giveBack();
    if (state === "disconnected") this.healing = setTimeout(() => this.giveBack(), HEAL_MS);
  }

  use({ carrier, missedMs = 0 }) {
    const before = this.carrier;
    this.carrier = carrier;
    if (carrier === "webrtc") {
      this.kept = [];
      this.toldAt = this.soundedAt = 0;
      this.reporting = setInterval(() => this.report(), TELL_MS / 2);
      this.steady = setTimeout(() => (this.attempt = 0), RETRY_MS.at(-1));
    } else if (before === "webrtc") {
      const missed = Math.ceil((missedMs * BYTES_PER_MS) / (this.kept.at(-1)?.byteLength ?? 1));
      if (missed) this.kept.slice(-missed).forEach((frame) => this.socket.sendFrame(frame));
      this.heard = null; // the player knows from now on
      this.fail();
    }
  }

  /** Tell the server which packet is being heard: the last one given to the device, less what the device delays. */
  report() {
    const [source] = this.receiver?.getSynchronizationSources?.() ?? [];
    if (source?.rtpTimestamp === undefined) return;
    const now = performance.now();
    this.player.level = this.level();
    if (this.player.level > QUIET) this.soundedAt = now;
    const every = now - this.soundedAt < LINGER_MS ? TELL_MS : REST_MS;
    if (now - this.toldAt < every) return;
    this.toldAt = now;
    const late = Math.round(this.sound.latencyMs * CLOCKS_PER_MS);
    this.socket.send("heard", { rtp: (source.rtpTimestamp - late) >>> 0 });
  }

  /** A frame of the microphone: over the socket, or kept in case WebRTC fails. */
  sendFrame(frame) {
    if (this.carrier === "socket") {
      this.socket.sendFrame(frame);
      return;
    }
    this.kept.push(frame);
    if (this.kept.length > KEPT_FRAMES) this.kept.shift();
  }

  gate(open) {
    if (this.track) this.track.enabled = open;
    if (this.isWanted && open && !this.track && this.microphone.stream && this.connection) this.connect(); // it was opened later
  }

  /** The playback position for hello, if the sound came over WebRTC. */
  progress() {
    return this.carrier === "webrtc" && this.heard ? { ...this.heard, chunk: 0 } : null;
  }

  bookmark() {
    const at = this.progress();
    return at && { ...at, samples: Math.round((at.ms * this.player.rate) / 1000) };
  }

  /** This page can't use the connection: the server shall use the socket. */
  giveBack() {
    this.socket.send("carrier", { carrier: "socket" });
    if (this.carrier === "socket") this.fail();
  }

  fail(forGood = false) {
    this.drop();
    if (!this.isWanted || forGood) return;
    this.timer = setTimeout(() => this.isWanted && this.connect(), RETRY_MS[Math.min(this.attempt, RETRY_MS.length - 1)]);
    this.attempt += 1;
  }

  drop() {
    clearTimeout(this.healing);
    clearTimeout(this.steady);
    clearInterval(this.reporting);
    if (this.audio) this.audio.srcObject = null;
    this.track?.stop();
    this.source?.disconnect();
    this.connection?.close();
    this.source = this.analyser = null;
    this.connection = this.receiver = this.audio = this.track = null;
  }

  close() {
    clearTimeout(this.timer);
    this.drop();
    this.attempt = 0;
    this.carrier = "socket";
  }
}

/** With a relay, the server needs the addresses of this page. Without one, it waits until the page reaches it. */
function gathered(connection, needed) {
  if (!needed || connection.iceGatheringState === "complete") return Promise.resolve();
  return new Promise((resolve) => {
    setTimeout(resolve, 2000);
    connection.addEventListener("icegatheringstatechange", () => connection.iceGatheringState === "complete" && resolve());
  });
}

/** `?carrier=socket` keeps the sound on the socket. */
function preferred() {
  return new URL(location.href).searchParams.get("carrier");
}

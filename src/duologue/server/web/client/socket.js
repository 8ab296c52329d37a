// The WebSocket to the server: sends hello, pings, and reconnects when it breaks.
//
// It passes on every message of the server, and reports the connection as the message `client.connection`. Rule: the
// socket reconnects by itself for about 45 s after a lost connection. After a refusal it waits for the user.

export const VERSION = 1;
const DELAYS_MS = [300, 1000, 3000, 5000];
const GIVE_UP_MS = 45000;
const READY_MS = 10000;
const PING_MS = 10000;
const LATER_MS = 10000;
const ERROR_MS = 200;
// Close codes that need the user; every other close is a lost connection.
const REFUSALS = new Set([4400, 4401, 4403, 4409, 4410, 4426, 1009]);
const LATER = 4429;
const LOST = 1006;
const OPEN = 1; // WebSocket.OPEN

export class Socket {
  constructor({ url, hello, message, voice, WebSocket = globalThis.WebSocket }) {
    this.url = url; // of the server
    this.WebSocket = WebSocket;
    this.hello = hello; // () => a promise of the payload
    this.message = message; // ({type, payload, receivedAt})
    this.voice = voice; // a binary frame
    this.socket = null;
    this.isReady = false;
    this.lostAt = 0; // when the connection was lost; 0 while it is open
    this.attempt = 0;
    this.timer = 0;
    this.error = null; // the server's error before it closed the socket
    globalThis.addEventListener?.("online", () => this.timer && this.connect());
  }

  /** Connect now. `more` is added to hello, for example take_over. */
  connect(more = {}) {
    clearTimeout(this.timer);
    this.timer = 0;
    this.drop();
    this.error = null;
    const socket = new this.WebSocket(socketAddress(this.url));
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    this.tell({ phase: this.lostAt ? "waiting" : "connecting", attempt: this.attempt });
    this.deadline = setTimeout(() => this.lose(socket, 4408), READY_MS);
    socket.onopen = () => this.greet(socket, more);
    socket.onmessage = ({ data }) => this.take(socket, data);
    socket.onclose = ({ code, reason }) => this.lose(socket, code, reason);
  }

  /** Say hello. If its token can't be had, the connection counts as lost, and is tried again. */
  async greet(socket, more) {
    try {
      const hello = await this.hello();
      if (socket === this.socket) this.send("hello", { version: VERSION, ...hello, ...more }, true);
    } catch (problem) {
      this.lose(socket, LOST, String(problem?.message ?? problem));
    }
  }

  /** Connect again after the socket gave up or was refused. */
  retry(more) {
    this.lostAt = performance.now();
    this.attempt = 0;
    this.connect(more);
  }

  send(type, payload = {}, early = false) {
    if ((this.isReady || early) && this.socket?.readyState === OPEN) {
      this.socket.send(JSON.stringify({ type, payload }));
      return true;
    }
    return false;
  }

  sendFrame(buffer) {
    // If the socket is slow, drop audio: at most half a second is queued.
    if (this.isReady && this.socket?.readyState === OPEN && this.socket.bufferedAmount < 16000) {
      this.socket.send(buffer);
    }
  }

  take(socket, data) {
    if (socket !== this.socket) return;
    const receivedAt = performance.now();
    if (typeof data !== "string") {
      this.voice(data);
      return;
    }
    const { type, payload = {} } = JSON.parse(data);
    if (type === "duologue.ready") this.ready();
    if (type === "duologue.pong") this.pinged = 0;
    else if (type === "duologue.error") this.hear(socket, { type, payload, receivedAt });
    else this.message({ type, payload, receivedAt });
  }

  /** An error just before a close is the reason for that close, and is passed on with it. Others are passed on alone. */
  hear(socket, message) {
    this.error = message.payload;
    setTimeout(() => socket === this.socket && this.message(message), ERROR_MS);
  }

  ready() {
    clearTimeout(this.deadline);
    this.isReady = true;
    this.lostAt = 0;
    this.attempt = 0;
    this.pinged = 0;
    this.pinging = setInterval(() => this.ping(), PING_MS);
    this.tell({ phase: "open" });
  }

  ping() {
    if (this.pinged) this.lose(this.socket, LOST);
    else if (this.send("ping", { t: Math.round(performance.now()) })) this.pinged = 1;
  }

  lose(socket, code, reason = "") {
    if (socket !== this.socket) return;
    this.drop();
    if (REFUSALS.has(code)) {
      this.lostAt = 0;
      this.tell({ phase: "refused", code, reason: this.error?.message || reason });
      return;
    }
    const now = performance.now();
    this.lostAt ||= now;
    const delay = code === LATER ? LATER_MS : DELAYS_MS[Math.min(this.attempt, DELAYS_MS.length - 1)];
    if (now + delay - this.lostAt > GIVE_UP_MS) {
      this.tell({ phase: "lost", code, reason });
      return;
    }
    this.attempt += 1;
    this.timer = setTimeout(() => this.connect(), delay);
    this.tell({ phase: "waiting", code, attempt: this.attempt, dueAt: now + delay });
  }

  /** Stay away until `connect`. */
  close() {
    clearTimeout(this.timer);
    this.timer = this.lostAt = this.attempt = 0;
    this.drop();
    this.tell({ phase: "closed" });
  }

  drop() {
    clearTimeout(this.deadline);
    clearInterval(this.pinging);
    const old = this.socket;
    this.socket = null;
    this.isReady = false;
    if (old) old.onopen = old.onmessage = old.onclose = null;
    old?.close();
  }

  tell(connection) {
    this.message({ type: "client.connection", payload: connection, receivedAt: performance.now() });
  }
}

/** The address of the server's socket, from that of its page: https becomes wss. */
export function socketAddress(url) {
  const address = new URL("ws", url);
  address.protocol = address.protocol === "https:" || address.protocol === "wss:" ? "wss:" : "ws:";
  address.search = "";
  return address.href;
}

// The types of duologue-client. What each message means is in the panel's protocol (docs/protocol.md of Duologue).

export type Phase =
  | "idle" | "starting" | "listening" | "user_speaking" | "thinking" | "working" | "speaking" | "interrupted"
  | "paused" | "reconnecting" | "error" | "ending";
export type Hearing = "on" | "loading" | "muted" | "broken" | "none";
export type MicrophoneStatus = "off" | "asking" | "on" | "denied" | "absent" | "insecure" | "unplugged" | "failed";

export interface Connection {
  /** `refused` waits for the user, `lost` after 45 s without a connection; `closed` after `close`. */
  phase: "connecting" | "open" | "waiting" | "refused" | "lost" | "closed";
  attempt?: number;
  /** The close code: 4401 a wrong or old ticket, 4403 a page of another origin, 4409 and 4410 another tab. */
  code?: number;
  reason?: string;
  dueAt?: number;
}

/** A line of the conversation. For the agent, `text` was heard and `unheard` wasn't yet, or never if it is `final`. */
export interface Caption {
  id: string;
  role: "user" | "assistant";
  text: string;
  unheard: string;
  final: boolean;
  turn?: number;
  reply?: number;
  /** The agent that said it, if another agent has taken over from the first one; else empty. */
  speaker?: string;
  interrupted?: boolean;
  overheard?: boolean;
  lost?: boolean;
  unsent?: boolean;
}

export interface Work {
  call: number | string;
  tool: string;
  mode: string;
  status: "running" | "asking" | "ended";
  text?: string;
  fraction?: number | null;
  question?: string;
  outcome?: string;
}

export interface Notice {
  id: number;
  level: "info" | "warning" | "error";
  code?: string;
  message: string;
  actions: string[];
  fatal: boolean;
}

export interface Ready {
  version: number;
  server: string;
  language: string;
  agent: { name: string; hears: boolean; speaks: boolean; suggestions?: string[] };
  audio: { input_hz: number; output_hz: number };
  labels: Record<Phase, string>;
  waits: string[];
  watchable: boolean;
}

/** What the client knows. It is a value: every change makes a new one. */
export interface Model {
  readonly connection: Connection;
  readonly ready: Ready | null;
  readonly conversation: { conversation: string; resumed: boolean; since?: string; saved?: boolean } | null;
  readonly state: { phase: Phase; label: string; cause: string; at: number; turn: number; receivedAt: number };
  readonly status: { hearing: Hearing; why: string; attempt: number; attemptsMax: number; dueAt: number | null; queued: number[] };
  /** Is the user's voice heard now? */
  readonly talking: boolean;
  readonly captions: readonly Caption[];
  /** What a cue says beside the agent's replies. */
  readonly cue: { cue: string; text: string } | null;
  readonly unsent: readonly { id: string; conversation: string; text: string }[];
  readonly dialogue: { flow: string; title: string; state: string; question: string | null; slots: Slot[] } | null;
  readonly results: readonly { turn: number; title: string; slots: { label: string; value: string }[] }[];
  readonly work: readonly Work[];
  readonly notices: readonly Notice[];
  readonly microphone: { status: MicrophoneStatus; muted: boolean; mode: "hands-free" | "push"; pressed: boolean };
  readonly sound: "off" | "running" | "blocked";
  readonly starting: boolean;
  readonly ended: { reason: string; canRestart: boolean } | null;
}

export interface Slot {
  name: string;
  label: string;
  value: string;
  state: "empty" | "filled" | "confirmed" | "asked" | "result";
}

export interface ClientOptions {
  /** The address of the server, such as `https://agent.example/`. Default: that of the page. */
  url?: string;
  /** A token or a ticket, or a function that gets one for each connection. A web page should have tickets only. */
  token?: string | (() => string | Promise<string>);
  /** Of labels and notices: `en`, `de` … */
  language?: string;
  /** The name under which the browser stores seat and conversation. Two clients on one page need two. */
  name?: string;
  memory?: Memory;
  /** Where WebSocket isn't global, as in node 20: that of a package. */
  WebSocket?: unknown;
  /** What plays the agent's voice. Default: the browser's AudioContext; without one, `ClockSound` of `duologue-client/headless`. */
  sound?: object;
  /** The folder of the worklets, with a slash at its end, if a bundler has moved them. */
  worklets?: string | URL;
}

export interface Memory {
  conversation(): { conversation: string; key: string } | null;
  keepConversation(conversation: { conversation: string; key: string } | null): void;
}

/** Payloads of events by name. Every message of the protocol is an event, without its prefix `duologue.`. */
export interface Events {
  connection: Connection;
  ready: Ready;
  conversation: { conversation: string; key: string; resumed: boolean };
  state: { phase: Phase; previousPhase: Phase; localizedLabel: string; cause: string; at: number };
  caption: Omit<Caption, "id">;
  hearing: { on: boolean };
  turn: { event: string; turnId: string; role: string; why?: string };
  work: { event: string; call: number | string; tool: string; outcome?: string };
  notification: { level: string; code: string; message: string; actions: string[]; fatal: boolean };
  error: { code: string; message: string; id?: string };
  ended: { reason: string; canRestart: boolean };
  /** A binary frame with sound: 12 bytes of header, then 16-bit PCM at 24 kHz. */
  voice: ArrayBuffer;
  "*": { type: string; payload: unknown };
}

export class Client {
  constructor(options?: ClientOptions);
  readonly model: Model;
  /** Calls `listener` now and after every change. Returns a function that ends it. */
  subscribe(listener: (model: Model, before: Model) => void): () => void;
  on<Name extends keyof Events>(name: Name, listener: (payload: Events[Name]) => void): () => void;
  on(name: string, listener: (payload: any) => void): () => void;

  connect(): void;
  /** Leave: the server keeps the conversation for a while, and `connect` goes on with it. */
  close(): void;
  reconnect(): void;
  /** Take the conversation from the other tab that has it. */
  takeOver(): void;

  /** Opens sound and microphone, then begins. Call it in a click or a key press. */
  start(): Promise<void>;
  skipMicrophone(): void;
  openMicrophone(): Promise<boolean>;
  end(): void;
  /** A whole turn in writing. Returns false if there is no conversation. */
  type(text: string): boolean;
  /** The turn is complete, by hand. */
  finishTurn(): boolean;
  interrupt(): boolean;
  /** Pause, or continue. */
  pause(): boolean;
  cancel(call: number | string): boolean;
  answer(call: number | string, text: string): void;
  mute(muted?: boolean): void;
  mode(mode: "hands-free" | "push"): void;
  press(): boolean;
  release(): boolean;
  /** Any message of the protocol. Returns false if there is no connection. */
  send(type: string, payload?: object): boolean;
  /** Sound of your own: 16-bit PCM at 16 kHz, 10 to 200 ms. */
  sendAudio(frame: ArrayBuffer): void;
}

export function createMemory(name?: string): Memory;
export function isLive(model: Model): boolean;
/** Is our own conversation running? */
export function isOn(model: Model): boolean;
export function phaseOf(model: Model): Phase;
/** Typed messages that the server hasn't confirmed, as captions. */
export function unsentLines(model: Model): Caption[];

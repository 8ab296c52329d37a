// A page with Pipecat's client, unchanged: it speaks, interrupts, runs a function, and exchanges messages.
// client_rtvi.py bundles it and opens it in Chromium.
import { PipecatClient } from '@pipecat-ai/client-js'
import { SmallWebRTCTransport, WavMediaManager as TrackMediaManager } from '@pipecat-ai/small-webrtc-transport'
import { WavMediaManager, WebSocketTransport } from '@pipecat-ai/websocket-transport'
import { count, countStream, fakeMicrophone, kindsOfAddresses, relayServers, until, wait } from './page_parts.mjs'

/** Plays a track, and counts its sound. */
async function playTrack(track, meter) {
  const stream = new MediaStream([track])
  const element = new Audio()
  element.srcObject = stream
  element.muted = true
  await element.play()
  countStream(stream, meter)
}

/** Counts the milliseconds of sound that really reach the loudspeaker. */
function loudspeakerMeter() {
  const connect = AudioNode.prototype.connect
  const meter = { playedMs: 0 }
  AudioNode.prototype.connect = function (target, ...rest) {
    const connected = connect.call(this, target, ...rest)
    if (target === this.context.destination && this instanceof AudioWorkletNode) {
      count(this, meter, connect)
    }
    return connected
  }
  return meter
}

/** The transport, and how a client connects with it. */
const TRANSPORTS = {
  websocket: {
    make: () => new WebSocketTransport({ mediaManager: new WavMediaManager(512, 16000) }),
    connect: (client, base, headers) => client.startBotAndConnect({ endpoint: `${base}/connect`, headers, requestData: {} }),
  },
  webrtc: {
    make: () => new SmallWebRTCTransport({ mediaManager: new TrackMediaManager(512, 16000) }),
    connect: (client, base, headers, iceConfig) =>
      client.connect({ webrtcRequestParams: { endpoint: `${base}/offer`, headers }, iceConfig }),
  },
}

/** From now on, the page connects through TURN servers alone: the transport has no setting for it. */
function allowRelaysOnly() {
  const made = []
  window.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(given) {
      super({ ...given, iceTransportPolicy: 'relay' })
      made.push(this)
    }
  }
  return made
}

window.runInterop = async ({ base, key, carrier, relay }) => {
  const { make, connect } = TRANSPORTS[carrier]
  const { stream, speak } = fakeMicrophone()
  navigator.mediaDevices.getUserMedia = async () => stream
  const meter = loudspeakerMeter()
  const seen = []
  const errors = []
  const facts = { user: [], partials: 0, agent: [], words: [], outputs: [], metrics: [], server: [], calls: [] }
  const times = (name) => seen.filter((one) => one === name).length
  const note = (name) => () => seen.push(name)
  const client = new PipecatClient({
    transport: make(),
    enableMic: true,
    callbacks: {
      onConnected: note('connected'),
      onDisconnected: note('disconnected'),
      onTrackStarted: (track, participant) => participant?.local || track.kind !== 'audio' || playTrack(track, meter),
      onBotReady: (data) => seen.push(`ready ${data.version}`),
      onUserStartedSpeaking: note('user started'),
      onUserStoppedSpeaking: note('user stopped'),
      onBotStartedSpeaking: () => {
        seen.push('bot started')
        if (times('bot started') === 2) facts.playedMs = Math.round(meter.playedMs) // of the story that was cut
      },
      onBotStoppedSpeaking: note('bot stopped'),
      onBotLlmStarted: note('llm started'),
      onBotLlmStopped: note('llm stopped'),
      onBotTtsStarted: note('tts started'),
      onBotTtsStopped: note('tts stopped'),
      onUserTranscript: (data) => (data.final ? facts.user.push(data.text) : (facts.partials += 1)),
      onBotTranscript: (data) => facts.agent.push(data.text),
      onBotTtsText: (data) => facts.words.push(data.text),
      onBotOutput: (data) => facts.outputs.push(data),
      onMetrics: (data) => facts.metrics.push(...Object.keys(data)),
      onServerMessage: (data) => facts.server.push(data),
      onLLMFunctionCallStopped: (data) => facts.calls.push(data),
      onMessageError: (message) => seen.push(`refused ${message.data.error}`),
      onError: (message) => (seen.includes('leaving') ? null : errors.push(JSON.stringify(message.data))),
    },
  })
  client.registerFunctionCallHandler('get_weather', async ({ arguments: given }) => ({ sky: 'sunny', city: given.city }))
  try {
    const headers = new Headers({ Authorization: `Bearer ${key}` })
    const connections = relay ? allowRelaysOnly() : []
    await connect(client, base, headers, relay ? await relayServers(base, key) : undefined)

    await speak()
    await until(() => times('bot started') === 1, 'sound of the story')
    if (relay) facts.addresses = await kindsOfAddresses(connections.at(-1))
    await wait(800)
    await speak()
    await until(() => times('bot stopped') === 1, 'the interruption')
    await until(() => times('bot stopped') === 2, 'the answer to the interruption')

    await speak()
    await until(() => facts.calls.length === 1, 'the function')
    await until(() => facts.agent.some((text) => text.includes('sunny')), "the function's output")
    await until(() => times('bot stopped') === 3, 'the end of the answer')

    facts.answered = await client.sendClientRequest('ping', { number: 7 })
    await client.sendText('hello', { run_immediately: true, audio_response: false })
    await until(() => facts.outputs.some((one) => one.text === 'You said hello.'), 'an answer to a text')
    await client.sendClientRequest('unknown', null).catch(() => {})
    await until(() => seen.some((one) => one.startsWith('refused')), 'an error for a message that is not taken')

    seen.push('leaving')
    client.disconnectBot()
    await until(() => seen.includes('disconnected'), 'the end')
  } catch (failure) {
    facts.failed = String(failure?.message ?? failure)
  }
  return { ...facts, outputs: facts.outputs.map((one) => one.spoken_status), seen, errors }
}

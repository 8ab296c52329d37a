// What the pages share: a microphone that a script switches on and off, and a meter of what is really played.
export const wait = (ms) => new Promise((done) => setTimeout(done, ms))

/** Wait for a condition. */
export async function until(holds, what, limitMs = 20000) {
  const end = Date.now() + limitMs
  while (!holds()) {
    if (Date.now() > end) throw new Error(`never: ${what}`)
    await wait(20)
  }
}

/** A microphone with a tone: its stream, and a function that speaks for a moment. */
export function fakeMicrophone() {
  const context = new AudioContext()
  const tone = new OscillatorNode(context, { frequency: 220 })
  const level = new GainNode(context, { gain: 0 })
  const microphone = new MediaStreamAudioDestinationNode(context)
  tone.connect(level).connect(microphone)
  tone.start()
  const speak = async (ms = 300) => {
    level.gain.value = 0.4
    await wait(ms)
    level.gain.value = 0
    await wait(600)
  }
  return { stream: microphone.stream, speak }
}

/** Counts the milliseconds in which a node gives sound. */
export function count(node, meter, connect = AudioNode.prototype.connect) {
  const counter = node.context.createScriptProcessor(256, 1, 1)
  counter.onaudioprocess = ({ inputBuffer }) => {
    const loud = inputBuffer.getChannelData(0).some((sample) => Math.abs(sample) > 0.02)
    if (loud) meter.playedMs += (256 * 1000) / node.context.sampleRate
  }
  connect.call(node, counter)
  connect.call(counter, node.context.destination)
}

/** Counts the sound of a stream that an element plays. Chromium decodes a track only while an element plays it. */
export function countStream(stream, meter) {
  count(new AudioContext().createMediaStreamSource(stream), meter)
}

/** The STUN and TURN servers of the server, with credentials. */
export async function relayServers(base, key) {
  const answer = await fetch(`${base}/ice_servers`, { headers: { Authorization: `Bearer ${key}` } })
  if (!answer.ok) throw new Error(await answer.text())
  return answer.json()
}

/** The kinds of both addresses that the connection uses: host, srflx, prflx or relay. */
export async function kindsOfAddresses(connection) {
  const stats = [...(await connection.getStats()).values()]
  const find = (id) => stats.find((one) => one.id === id)
  const pair = find(stats.find((one) => one.type === 'transport')?.selectedCandidatePairId)
  return pair && [find(pair.localCandidateId).candidateType, find(pair.remoteCandidateId).candidateType]
}

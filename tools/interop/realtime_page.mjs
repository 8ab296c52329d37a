// A page with the npm clients of the Realtime protocol over WebRTC, unchanged: they speak, interrupt and run a function.
// client_realtime_page.py bundles it and opens it in Chromium.
import { OpenAIRealtimeWebRTC as AgentsWebRTC, RealtimeAgent, RealtimeSession, tool } from '@openai/agents-realtime'
import { OpenAIRealtimeWebRTC } from 'openai/realtime/webrtc'
import { z } from 'zod'
import { countStream, fakeMicrophone, kindsOfAddresses, relayServers, until, wait } from './page_parts.mjs'

const NAME = 'get_weather'
const DESCRIPTION = 'The weather in a city.'
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } }

/** The session of @openai/agents-realtime, which configures itself and runs the tool by itself. */
async function connectAgents({ base, key, ice }, stream, element, note) {
  const weather = tool({
    name: NAME,
    description: DESCRIPTION,
    parameters: z.object({ city: z.string() }),
    execute: async () => 'sunny',
  })
  const agent = new RealtimeAgent({ name: 'interop', instructions: 'Be kind.', tools: [weather] })
  let connection
  const transport = new AgentsWebRTC({
    mediaStream: stream,
    audioElement: element,
    baseUrl: `${base}/realtime/calls`,
    changePeerConnection: (made) => {
      if (ice) made.setConfiguration(ice)
      return (connection = made)
    },
  })
  const session = new RealtimeSession(agent, { transport, model: 'interop' })
  session.on('error', (error) => note.errors.push(JSON.stringify(error.error ?? error)))
  session.on('agent_tool_end', () => note.seen.push('tool ended'))
  session.on('transport_event', note.take)
  await session.connect({ apiKey: key })
  return { connection, close: () => session.close() }
}

/** The connection of the package openai: the application exchanges SDP, configures the session and runs the tool. */
async function connectOpenAI({ base, key, ice }, stream, element, note) {
  const made = new OpenAIRealtimeWebRTC(ice ?? undefined)
  const connection = made.peerConnection
  connection.addTrack(stream.getAudioTracks()[0], stream)
  connection.addEventListener('track', ({ streams }) => (element.srcObject = streams[0]))
  made.onConnectionEvent((event) => event.type === 'error' && note.errors.push(String(event.error)))
  made.onEvent((event) => {
    note.take(event)
    if (event.type === 'error') note.errors.push(JSON.stringify(event.error))
    if (event.type !== 'response.function_call_arguments.done') return
    const item = { type: 'function_call_output', call_id: event.call_id, output: 'sunny' }
    made.send({ type: 'conversation.item.create', item })
    made.send({ type: 'response.create' })
    note.seen.push('tool ended')
  })
  const exchangeSdp = async (sdp, { signal }) => {
    if (ice) await until(() => connection.iceGatheringState === 'complete', 'the addresses of the page')
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/sdp' }
    const body = ice ? connection.localDescription.sdp : sdp
    const answer = await fetch(`${base}/realtime/calls`, { method: 'POST', headers, body, signal })
    if (answer.status !== 201) throw new Error(await answer.text())
    return onlyRelayed(await answer.text(), ice)
  }
  await made.connect({ exchangeSdp })
  const tools = [{ type: 'function', name: NAME, description: DESCRIPTION, parameters: PARAMETERS }]
  made.send({ type: 'session.update', session: { type: 'realtime', tools } })
  return { connection, close: () => made.close() }
}

/** The answer of a server that can be reached only through its relay. */
function onlyRelayed(answer, ice) {
  if (!ice) return answer
  return answer
    .split('\r\n')
    .filter((line) => !line.startsWith('a=candidate:') || line.includes(' typ relay'))
    .join('\r\n')
}

const CLIENTS = { '@openai/agents-realtime': connectAgents, openai: connectOpenAI }

window.runInterop = async (given) => {
  const { stream, speak } = fakeMicrophone()
  const element = new Audio()
  element.muted = true // the meter counts, the loudspeaker isn't needed
  element.autoplay = true
  const meter = { playedMs: 0 }
  const note = { seen: [], said: [], errors: [] }
  const times = (name) => note.seen.filter((one) => one === name).length
  const facts = {}
  note.take = (event) => {
    note.seen.push(event.type)
    if (event.type === 'response.output_audio_transcript.done') note.said.push(event.transcript)
    if (event.type === 'conversation.item.truncated') facts.truncatedMs = event.audio_end_ms
    if (times('output_audio_buffer.started') === 2) facts.playedMs ??= Math.round(meter.playedMs) // of what was cut
  }
  try {
    const ice = given.relay ? { ...(await relayServers(`${given.base}/realtime`, given.key)), iceTransportPolicy: 'relay' } : null
    const { connection, close } = await CLIENTS[given.client]({ ...given, ice }, stream, element, note)
    await until(() => element.srcObject !== null, 'a track')
    countStream(element.srcObject, meter)
    await until(() => note.seen.includes('session.updated'), 'the configuration')

    await speak()
    await until(() => times('output_audio_buffer.started') === 1, 'sound of the story')
    facts.addresses = await kindsOfAddresses(connection)
    await wait(800)
    await speak()
    await until(() => times('output_audio_buffer.cleared') === 1, 'the interruption')
    await until(() => times('output_audio_buffer.stopped') === 1, 'the answer to the interruption')

    await speak()
    await until(() => note.seen.includes('tool ended'), 'the tool')
    await until(() => note.said.includes('The tool says sunny.'), "the tool's output")
    await until(() => times('output_audio_buffer.stopped') === 2, 'the end of the answer')
    close()
  } catch (failure) {
    facts.failed = String(failure?.message ?? failure)
    facts.seen = note.seen.slice(-30)
  }
  return { ...facts, said: note.said.slice(1), errors: note.errors }
}

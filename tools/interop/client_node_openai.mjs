// The npm package openai: the application itself notes what it plays and truncates. It connects over TLS only.
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { report, speak, until, wait } from './spoken.mjs'

const client = new OpenAI({ apiKey: process.env.KEY, baseURL: process.env.TLS_URL })
const socket = new OpenAIRealtimeWS({ model: 'interop' }, client)
const seen = []
const said = []
const errors = []
let playing = null
const tools = [
  {
    type: 'function',
    name: 'get_weather',
    description: 'The weather in a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
]
socket.on('error', (error) => errors.push(String(error.message ?? error)))
socket.on('event', (event) => {
  seen.push(event.type)
  if (event.type === 'response.output_audio.delta') {
    if (playing?.item !== event.item_id) playing = { item: event.item_id, began: Date.now(), ms: 0 }
    playing.ms += Buffer.from(event.delta, 'base64').length / 48
  } else if (event.type === 'input_audio_buffer.speech_started' && playing) {
    const ms = Math.floor(Math.min(playing.ms, Date.now() - playing.began))
    socket.send({ type: 'conversation.item.truncate', item_id: playing.item, content_index: 0, audio_end_ms: ms })
    playing = null
  } else if (event.type === 'response.output_audio_transcript.done') {
    said.push(event.transcript)
  } else if (event.type === 'response.function_call_arguments.done') {
    const item = { type: 'function_call_output', call_id: event.call_id, output: 'sunny' }
    socket.send({ type: 'conversation.item.create', item })
    socket.send({ type: 'response.create' })
  }
})
await until(() => seen.includes('session.created'), 'the session')
const turns = { type: 'server_vad', silence_duration_ms: 200 }
socket.send({ type: 'session.update', session: { type: 'realtime', tools, audio: { input: { turn_detection: turns } } } })
const send = (sound) =>
  socket.send({ type: 'input_audio_buffer.append', audio: Buffer.from(sound).toString('base64') })
await speak(send)
await until(() => playing !== null, 'sound of the story')
await wait(800)
await speak(send)
await until(() => said.length >= 2, 'the answer to the interruption')
playing = null
await wait(1500)
await speak(send)
await until(() => said.includes('The tool says sunny.'), "the tool's output")
report({ said: said.slice(1), truncated: seen.includes('conversation.item.truncated'), errors })
socket.close()
process.exit(0)

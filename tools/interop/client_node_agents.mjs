// The npm package @openai/agents-realtime over WebSocket: its session truncates and runs tools by itself.
import { RealtimeAgent, RealtimeSession, tool } from '@openai/agents-realtime'
import { z } from 'zod'
import { report, speak, until, wait } from './spoken.mjs'

const weather = tool({
  name: 'get_weather',
  description: 'The weather in a city.',
  parameters: z.object({ city: z.string() }),
  execute: async () => 'sunny',
})
const agent = new RealtimeAgent({ name: 'interop', instructions: 'Be kind.', tools: [weather] })
const session = new RealtimeSession(agent, { transport: 'websocket', model: 'interop' })
const seen = []
const said = []
const errors = []
session.on('error', (error) => errors.push(JSON.stringify(error.error ?? error)))
session.on('audio', () => seen.push('audio'))
session.on('audio_interrupted', () => seen.push('audio_interrupted'))
session.on('agent_tool_end', () => seen.push('tool_end'))
session.on('transport_event', (event) => {
  seen.push(event.type)
  if (event.type === 'response.output_audio_transcript.done') said.push(event.transcript)
})
const url = process.env.URL.replace('http', 'ws') + '/realtime?model=interop'
await session.connect({ apiKey: process.env.KEY, url })
const send = (sound) => session.sendAudio(sound)
await speak(send)
await until(() => seen.includes('audio'), 'sound of the story')
await wait(800)
await speak(send)
await until(() => seen.includes('audio_interrupted'), 'the interruption')
await until(() => said.length >= 2, 'the answer to the interruption')
await wait(1500)
await speak(send)
await until(() => seen.includes('tool_end'), 'the tool')
await until(() => said.includes('The tool says sunny.'), "the tool's output")
report({ said: said.slice(1), truncated: seen.includes('conversation.item.truncated'), errors })
session.close()
process.exit(0)

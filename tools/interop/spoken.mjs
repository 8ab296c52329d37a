// What the scripts of the node clients share: a tone as speech, and the report that tools/run_interop.py reads.
const RATE_HZ = 24000
const FRAME_MS = 20
const SAMPLES = (RATE_HZ * FRAME_MS) / 1000

function frame(level) {
  const samples = new Int16Array(SAMPLES)
  for (let at = 0; at < SAMPLES; at++) samples[at] = Math.round(level * Math.sin((2 * Math.PI * 220 * at) / RATE_HZ))
  return samples.buffer
}

const TONE = frame(8000)
const SILENCE = frame(0)

export const wait = (ms) => new Promise((done) => setTimeout(done, ms))

/** Send a tone and the silence after it, as fast as they are spoken. */
export async function speak(send, ms = 300, quietMs = 600) {
  for (let at = 0; at < ms + quietMs; at += FRAME_MS) {
    send(at < ms ? TONE : SILENCE)
    await wait(FRAME_MS)
  }
}

/** Wait for a condition. */
export async function until(holds, what, limitMs = 20000) {
  const end = Date.now() + limitMs
  while (!holds()) {
    if (Date.now() > end) {
      report({ failed: `never: ${what}` })
      process.exit(1)
    }
    await wait(20)
  }
}

/** The last line of a script. */
export function report(facts) {
  console.log(JSON.stringify(facts))
}

"""Your own TTS: an object with `speak(text)` that yields sound. This one plays a tone for every word."""

import math
from array import array

from duologue import Agent, Sound, Word

RATE_HZ = 24_000
WORD_MS = 200


class Beeps:
    """Yield sound in pieces as soon as you have it. With `words`, an interruption is exact to the word."""

    async def speak(self, text):
        for word in text.split():
            pitch_hz = 220 + 20 * len(word)
            count = RATE_HZ * WORD_MS // 1000
            wave = array("h", (round(6_000 * math.sin(math.tau * pitch_hz * at / RATE_HZ)) for at in range(count)))
            yield Sound(WORD_MS, wave.tobytes(), RATE_HZ, words=(Word(word, 0, WORD_MS),))


async def reply(request):
    yield f"You said: {request.text}"


agent = Agent(reply, voice=Beeps())

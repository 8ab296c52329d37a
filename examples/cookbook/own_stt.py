"""Your own STT: an object with `listen(audio)` that yields what was heard, as a streaming service reports it.

`connect()` stands for the service's client: `send(pcm)` takes audio, and iterating gives {"text", "final"} messages.
"""

import asyncio

from duologue import Agent
from duologue.ports import Final, Frame, Partial, SpeechBegan, SpeechEnded


class ServiceEars:
    """Ears that know words only. VAD frames and pauses may be added; turn-taking uses whatever there is."""

    def __init__(self, connect):
        self.connect = connect

    async def listen(self, audio):
        service = await self.connect()
        sending = asyncio.ensure_future(self.send(audio, service))
        try:
            utterance, speaking = 0, False
            async for message in service:
                if not speaking:
                    utterance, speaking = utterance + 1, True
                    yield SpeechBegan(utterance)
                if message["final"]:
                    yield SpeechEnded(utterance)
                    yield Final(message["text"], utterance=utterance)
                    speaking = False
                else:
                    yield Partial(message["text"], utterance=utterance)
        finally:
            sending.cancel()

    async def send(self, audio, service):
        async for frame in audio:
            if isinstance(frame, Frame):  # others mark the end of a turn
                await service.send(frame.pcm)


async def reply(request):
    yield f"You said: {request.text}"


def make_agent(connect):
    return Agent(reply, ears=ServiceEars(connect))

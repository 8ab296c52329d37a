"""A whole local conversation in one process: the agent of the starter project, its server, and a client that speaks.

`python -m tests.privacy.local_conversation` prints the port of the server, what the agent heard and what it said. The
models hear real sound, and nothing is scripted. Rule: the only sockets are those of the server and its client.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from pathlib import Path

import duologue
from duologue import LocalVoice
from duologue.audio.frames import to_pcm, to_samples
from duologue.audio.resample import resample
from duologue.lab.torture.plain_client import PlainClient
from duologue.ports.history import AgentSaid, UserSaid
from duologue.server.app import Server
from duologue.server.listening import bind_socket
from duologue.server.run import serving
from duologue.server.settings import ServerSettings

RATE_HZ = 16_000
FRAME_MS = 40
SAID = "I would like to fly to Berlin."
QUIET_S_MAX = 30.0


async def main() -> None:
    sys.path.insert(0, str(Path(duologue.__file__).parent / "starter" / "project"))
    agent = importlib.import_module("agent").agent
    spoken = await spoken_pcm(SAID)
    listening = bind_socket("127.0.0.1", 0)
    port = listening.getsockname()[1]
    server = Server(agent, ServerSettings(port=port))
    async with serving(server, listening):
        client = await PlainClient.open(port, "127.0.0.1")
        await client.begin("caller")
        (served,) = server.conversations.served.values()
        await client.until(lambda: served.is_resting and client.sounds >= 1, "the end of the greeting")
        speaking = asyncio.ensure_future(speak(client, spoken))
        await client.until(lambda: client.sounds >= 2, "an answer")
        speaking.cancel()
        await client.until(lambda: served.is_resting, "the end of the answer")
        history = served.conversation.history
        heard = [item.text for item in history if isinstance(item, UserSaid)]
        said = [item.text for item in history if isinstance(item, AgentSaid)]
        await client.close()
        await server.conversations.drain()
    print(json.dumps({"port": port, "heard": heard, "said": said}))  # noqa: T201


async def spoken_pcm(text: str) -> bytes:
    """This text, spoken by the local voice, as the client's microphone would send it."""
    pieces = [sound async for sound in LocalVoice().speak(text)]
    samples = to_samples(b"".join(piece.pcm for piece in pieces))
    return to_pcm(resample(samples, pieces[0].rate_hz, RATE_HZ))


async def speak(client: PlainClient, pcm: bytes) -> None:
    """Send the sound at the pace of a microphone, then silence."""
    size = RATE_HZ * 2 * FRAME_MS // 1000
    for at in range(0, len(pcm) + RATE_HZ * 2 * int(QUIET_S_MAX), size):
        await client.send_raw(pcm[at : at + size].ljust(size, b"\0"))
        await asyncio.sleep(FRAME_MS / 1000)


if __name__ == "__main__":
    asyncio.run(main())

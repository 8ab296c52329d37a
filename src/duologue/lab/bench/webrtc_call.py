"""Plays a whole spoken call over WebRTC in simulated time, on a network that loses and delays packets.

The user is simulated: `WebRtcPage` takes the place of the panel's page in a browser, and sends synthetic speech to a
server. The rest is real: Opus, RTP, ICE, DTLS and SCTP, the server, local VAD and STT, and the conversation machine.
One turn interrupts a long answer. Rule: a call that doesn't reach its end within CALL_S_MAX is an error, so there is no
number for a stuck call.
"""

from __future__ import annotations

import asyncio
import statistics
from array import array
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from duologue.brains.scripted import ScriptedBrain
from duologue.core.errors import DuologueError
from duologue.ears.local import LocalEars
from duologue.lab.sim.lossy_network import LossyNetwork, run_lossy
from duologue.lab.sim.webrtc_page import RATE_HZ, WebRtcPage
from duologue.lines.whole_sound import sound_at
from duologue.ports.brain import Request
from duologue.ports.voice import Voice
from duologue.runtime.agent import Agent
from duologue.server.app import Server
from duologue.server.listening import bind_socket
from duologue.server.run import serving
from duologue.server.settings import ServerSettings, WebRtcSettings
from duologue.voice.local import LocalVoice

from .webrtc_speech import plain_words, word_errors

CALL_S_MAX = 180.0  # of simulated time
CUT_MS = 1_500  # how much of the long answer is heard before the interruption
PAUSE_S = 1.0  # between an answer and the next turn
LOUD = 1_000
STORY = (
    "Once upon a time there was a small museum by the sea. Every morning its keeper opened the doors and waited for "
    "visitors. Most of them came for the old clock in the hall, which had stopped a hundred years ago."
)


class CallTurn(NamedTuple):
    """What the user says, and whether it interrupts the answer before it."""

    says: str
    interrupts: bool = False


TURNS = (
    CallTurn("I would like to book a table for four people on Friday evening."),
    CallTurn("Could you tell me a long story about the museum?"),
    CallTurn("Stop, please. I have another question.", interrupts=True),
    CallTurn("How long does it take until the heating is repaired?"),
    CallTurn("Please send the invoice to my new email address."),
)


@dataclass
class PlayedWebRtcCall:
    """What happened in one call. `heard_ms` is how much of the interrupted answer was heard."""

    network: LossyNetwork
    understood: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    answer_ms: list[int] = field(default_factory=list)
    heard_ms: int = 0
    concealed_share: float = 0.0
    page: WebRtcPage | None = None

    def word_error_share(self, turns: tuple[CallTurn, ...] = TURNS) -> float:
        said = " ".join(turn.says for turn in turns)
        return word_errors(said, " ".join(self.understood)) / len(plain_words(said))


def call_numbers(loss: float, jitter_ms: int) -> dict[str, Any]:
    """Play the call on a network without losses and delays, and on this network. Raises DuologueError if a call gets
    stuck."""
    clean, lossy = play_call(LossyNetwork()), play_call(LossyNetwork(loss, jitter_ms))
    sound = lossy.network
    return {
        "call_turns": len(TURNS),
        "call_answers": len(lossy.answers),
        "call_sound_lost_share": sound.sound_lost / sound.sound_packets,
        "call_concealed_share": lossy.concealed_share,
        "call_word_errors_clean": clean.word_error_share(),
        "call_word_errors": lossy.word_error_share(),
        "call_answer_ms_clean": int(statistics.median(clean.answer_ms)),
        "call_answer_ms": int(statistics.median(lossy.answer_ms)),
        "call_interrupted_at_ms": lossy.heard_ms,
    }


def play_call(
    network: LossyNetwork, make: Callable[[], Agent] | None = None, turns: tuple[CallTurn, ...] = TURNS
) -> PlayedWebRtcCall:
    """Play one call on this network. Raises DuologueError if it gets stuck."""
    played = PlayedWebRtcCall(network)

    async def whole() -> None:
        try:
            async with asyncio.timeout(CALL_S_MAX):
                await _talk(played, make or _agent, turns)
        except TimeoutError:
            raise DuologueError(f"a call over WebRTC got stuck after {len(played.answers)} answers") from None

    run_lossy(whole(), network)
    return played


def _agent() -> Agent:
    return Agent(ScriptedBrain(_answer), ears=LocalEars(), voice=LocalVoice("en"), profile="confirm")


def _answer(request: Request) -> str:
    return STORY if "story" in request.text.lower() else f"You said: {request.text}"


@asynccontextmanager
async def _served(make: Callable[[], Agent]) -> AsyncIterator[str]:
    listening = bind_socket("127.0.0.1", 0)
    server = Server(make, ServerSettings(port=0, webrtc=WebRtcSettings(panel=True)))
    async with serving(server, listening):
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            await server.conversations.drain()


async def _talk(played: PlayedWebRtcCall, make: Callable[[], Agent], turns: tuple[CallTurn, ...]) -> None:
    voice = LocalVoice("en")
    sounds = [await _speech(voice, turn.says) for turn in turns]
    async with _served(make) as url:
        played.page = page = WebRtcPage(round(played.network.loss * 100))
        try:
            await page.open(url)
            for turn, sound in zip(turns, sounds, strict=True):
                await _play_turn(page, played, turn, sound)
            await _answered(page, len(turns))
        finally:
            await page.close()
    played.understood = [told["text"] for told in page.told("caption", role="user", final=True)]
    played.answers = [told["text"] for told in page.told("caption", role="assistant", final=True)]
    played.concealed_share = page.loudspeaker.concealed / (len(page.loudspeaker.pcm) / RATE_HZ / 2 * 50)


async def _play_turn(page: WebRtcPage, played: PlayedWebRtcCall, turn: CallTurn, sound: bytes) -> None:
    """Wait until it is time for this turn, play its sound into the microphone, and wait until the server reports that
    the user hears the answer."""
    loop = asyncio.get_running_loop()
    answers, voice = len(page.told("caption", role="assistant", final=True)), _newest_voice(page)
    if turn.interrupts:
        await page.until(lambda: any(one["ms"] >= CUT_MS for one in page.told("heard", voice=voice)))
    elif page.told("caption", role="user", final=True):
        await _answered(page, answers + 1)
        await asyncio.sleep(PAUSE_S)
    page.microphone.pcm += sound
    await page.until(lambda: not page.microphone.pcm)
    ended_s = loop.time()
    if turn.interrupts:
        await _answered(page, answers + 1)
        played.heard_ms = page.told("heard", voice=voice)[-1]["ms"]
    await page.until(lambda: _is_loud(bytes(page.loudspeaker.pcm[-960:])))
    played.answer_ms.append(round((loop.time() - ended_s) * 1000))
    await page.until(lambda: _newest_voice(page) > voice)


def _newest_voice(page: WebRtcPage) -> int:
    """The number of the voice (utterance of the agent) that was heard last; 0 if no voice was heard yet."""
    heard = page.told("heard")
    return int(heard[-1]["voice"]) if heard else 0


async def _answered(page: WebRtcPage, count: int) -> None:
    """Wait until `count` answers were heard, each to its end or until it was interrupted."""
    await page.until(lambda: len(page.told("caption", role="assistant", final=True)) >= count)


async def _speech(voice: Voice, text: str) -> bytes:
    return b"".join([sound_at(sound, RATE_HZ) async for sound in voice.speak(text)])


def _is_loud(pcm: bytes) -> bool:
    return max(map(abs, array("h", pcm)), default=0) > LOUD

"""A whole telephone call with local ears and the words of a service: Silero, Smart Turn and the endpoint decide here,
Deepgram's real plugin brings the words from a scripted server.

The caller speaks with a synthetic voice in µ-law. In the middle of its first sentence, the caller thinks for most of a
second; the service ends its text there, and the turn goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import pytest

from duologue.ears.local import LocalEars
from duologue.ears.model_input import Samples
from duologue.ears.silero import SileroVad
from duologue.ears.smart_turn import SmartTurn, TurnJudgement
from duologue.lab.sim.call_script import Say
from duologue.lab.sim.phone_speech import PhoneSpeech
from duologue.lines.phone.carriers import CARRIERS
from duologue.observe import signals as sg
from duologue.plugins import PluginEars
from duologue.ports import AgentSaid, UserSaid
from duologue.ports.brain import Part, Request
from duologue.ports.ears import Final, Heard, Incoming, SpeechBegan, SpeechEnded
from duologue.runtime.agent import Agent, Phrases
from duologue.voice.espeak import EspeakVoice
from tests.limits import TEST_S
from tests.needs import needs_model, needs_plugin
from tests.plugins.deepgram_service import DeepgramService
from tests.server.phone.phone_calls import phones, until

LONG = (
    "Your table for two is booked for seven, and all of us here look forward to seeing you in the evening, when the "
    "garden is open and the musicians play until late."
)
FIRST, REST = "I would like to book a table for", "two people please."
CHANGED = "Wait please make it three people."


class NotingEars(LocalEars):
    """Local ears that keep what they report about speech."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.reports: list[Heard] = []

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        async for heard in super().listen(audio):
            if isinstance(heard, SpeechBegan | SpeechEnded | Final):
                self.reports.append(heard)
            yield heard


class CountingTurn(SmartTurn):
    """The end-of-turn model, and how often it was asked."""

    asked = 0

    def hear(self, audio: Samples) -> TurnJudgement:
        self.asked += 1
        return super().hear(audio)


@pytest.mark.alone  # in real time, because the plugin has a thread and an event loop of its own
def test_a_phone_call_with_voice_detection_here_and_words_from_a_service() -> None:
    deepgram = needs_plugin("deepgram")
    for model in ("silero-vad", "smart-turn", "espeak-ng"):
        needs_model(model)
    asked: list[str] = []

    async def reply(request: Request) -> AsyncIterator[Part]:
        asked.append(request.text)
        yield LONG if len(asked) == 1 else "A table for three, then."

    async def work() -> None:
        speech = PhoneSpeech(EspeakVoice("en-us", 150))
        first, rest, changed = [await speech(Say(text)) for text in (FIRST, REST, CHANGED)]
        async with DeepgramService(hears=(FIRST, REST, CHANGED)) as service:
            service.quiet_ms = 500  # longer than the gaps between the words
            url = f"http://127.0.0.1:{service.port}/v1/listen"
            turn = CountingTurn()
            words = PluginEars(lambda: deepgram.STT(api_key="secret-key", base_url=url))
            ears = NotingEars(vad=SileroVad, turn=turn, words=words, cancels_echo=False)
            ears.load()
            agent = Agent(
                reply, ears=ears, voice=EspeakVoice(rate_wpm=170), profile="words", phrases=Phrases(greeting="Hello.")
            )
            decided: list[str] = []
            async with phones(lambda: agent) as server, server.call(CARRIERS["twilio"]) as (caller, _):
                await until(lambda: caller.is_sounding)
                conversation = server.conversations[0]
                conversation.on(sg.Decided, lambda made: decided.append(made.decision))
                await until(lambda: not caller.is_sounding)
                caller.speak(first + b"\xff" * 8 * 800 + rest)
                await until(lambda: asked and caller.is_sounding)
                played_ms = caller.played_ms
                await until(lambda: caller.played_ms > played_ms + 1_500)
                clears = caller.clears
                caller.speak(changed)
                await until(lambda: caller.clears > clears)
                assert conversation.history
                await until(lambda: len(asked) == 2)
                await until(lambda: "A table for three, then." in str(conversation.history))
                await until(lambda: not caller.is_sounding)
                history = conversation.history
                caller.hang_up()
                await asyncio.wait_for(conversation.wait(), TEST_S)
            await words.close()
            check(ears, service, turn, decided, history)

    asyncio.run(asyncio.wait_for(work(), TEST_S))
    assert asked == [f"{FIRST} {REST}", CHANGED]


def check(
    ears: NotingEars, service: DeepgramService, turn: CountingTurn, decided: list[str], history: tuple[Any, ...]
) -> None:
    # The voice was detected here: each onset has its end, and no sound of the agent counts as speech.
    began = [one.utterance for one in ears.reports if isinstance(one, SpeechBegan)]
    assert began == sorted(set(began))
    assert all(kinds != (SpeechBegan, SpeechBegan) for kinds in pairwise(map(type, ears.reports)))
    # The turns ended here, although the service had ended its text in the middle of the first one.
    assert [item.text for item in history if isinstance(item, UserSaid)] == [f"{FIRST} {REST}", CHANGED]
    assert service.said == [FIRST, REST, CHANGED]
    assert turn.asked >= 3  # in the pause for thought, and at both ends
    assert service.finalizes >= 1
    # Barge-in: the agent stopped, and the history holds what was heard of its answer.
    assert "barge_in" in decided
    said = [item for item in history if isinstance(item, AgentSaid) and item.text]
    cut = next(item for item in said if item.interrupted)
    assert LONG.startswith(cut.text)
    assert 3 <= len(cut.text.split()) < len(LONG.split())
    assert said[-1].text == "A table for three, then."

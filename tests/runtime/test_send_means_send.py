"""After an explicit send or a release of push-to-talk, the question is asked within a second, whatever noise goes on.

Each kind of ears reports in its own way: only onset and end, partial text, frames, or, like the local ears, a new
utterance after each commit. Rule: the noise goes on for half a minute, and no word is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from duologue.core import effects as fx
from duologue.core.settings import profile
from duologue.ears.scripted import ScriptedEars
from duologue.ports.ears import Commit, Final, Heard, Incoming, Partial, SpeechBegan, SpeechEnded, VoiceFrame
from duologue.testing import ScriptedBrain
from tests.runtime.runtime_fakes import Stage, play

WITHIN_MS = 1_000
NOISE_MS = 30_000
QUESTION = "when does the museum open"


class CommittingEars(ScriptedEars):
    """Ears that give the final text once the turn is committed. With `begins_anew`, they go on with a new utterance,
    as local ears do."""

    def __init__(self, begins_anew: bool, text: str = QUESTION, lag_ms: int = 150) -> None:
        super().__init__()
        self.begins_anew = begins_anew
        self.text = text
        self.lag_ms = lag_ms
        self.utterance = 1
        self.is_noisy = True

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        async for heard in super().listen(self._watch(audio)):
            yield heard

    async def _watch(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Incoming]:
        async for item in audio:
            if isinstance(item, Commit):
                asyncio.get_running_loop().call_later(self.lag_ms / 1000, self._give_text, self.utterance, self.text)
                self.text = ""
            yield item

    def _give_text(self, utterance: int, text: str) -> None:
        self.tell(Final(text, 0.9 if text else 0.0, utterance))
        if self.begins_anew and self.is_noisy:
            self.utterance += 1
            self.tell(SpeechBegan(self.utterance))


Sounds = Callable[[Stage, int], Awaitable[None]]


async def hum(stage: Stage, ms: int) -> None:
    """A voice or a noise of which these ears tell nothing until it ends."""
    await stage.sleep(ms)


async def frames(stage: Stage, ms: int) -> None:
    for _ in range(ms // 40):
        stage.ears.tell(VoiceFrame(0.9, 0.1, 40, 0, 0))
        await stage.sleep(40)


def asked_at(stage: Stage) -> list[int]:
    return [r.event.at for r in stage.records for effect in r.effects if isinstance(effect, fx.StartReply)]


def asked(stage: Stage) -> list[str]:
    return [request.text for request in stage.agent.thinker.requests]


async def question(stage: Stage, kind: str) -> None:
    """The question, said into ears of this kind, with a sound that doesn't end."""
    stage.utterance = 1
    stage.ears.tell(SpeechBegan(1))
    sound = frames if kind == "frames" else hum
    await sound(stage, 800)
    if kind in ("partials", "frames"):
        stage.ears.tell(Partial(QUESTION, 0.9, 1))
    await sound(stage, 800)


KINDS = ["onset and end", "partials", "frames", "commit"]


@pytest.mark.req("H-07.send", "L-02", "L-03")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by", ["send", "release"])
@pytest.mark.parametrize("name", ["confirm", "words", "immediate"])
def test_what_was_sent_is_asked_within_a_second_while_a_noise_goes_on(kind: str, by: str, name: str) -> None:
    ears = CommittingEars(kind == "commit") if kind in ("commit", "onset and end") else ScriptedEars()

    async def scene(stage: Stage) -> None:
        if by == "release":
            stage.conversation.press()
        await question(stage, kind)
        at = stage.now_ms
        stage.conversation.send() if by == "send" else stage.conversation.release()
        await (frames if kind == "frames" else hum)(stage, NOISE_MS)
        assert asked_at(stage), "asked at all"
        assert asked_at(stage)[0] - at <= WITHIN_MS
        assert asked(stage)[0] == QUESTION
        if isinstance(ears, CommittingEars):
            ears.is_noisy = False
        stage.ears.tell(SpeechEnded(0))
        if kind in ("partials", "frames"):
            stage.ears.tell(Final(QUESTION, 0.9, 1))
        await stage.sleep(2_000)
        await stage.rest()
        assert stage.said == [QUESTION]
        assert stage.lost == []
        assert stage.heard, "the answer was heard"

    play(scene, ScriptedBrain(otherwise="At ten."), ears=ears, profile=profile(name, greets=False))


@pytest.mark.req("H-07.send")
@pytest.mark.parametrize("by", ["send", "release"])
def test_ears_that_never_give_the_text_of_what_was_sent_hold_up_the_next_turn_by_a_second_at_most(by: str) -> None:
    async def scene(stage: Stage) -> None:
        if by == "release":
            stage.conversation.press()
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(1_500)
        stage.conversation.send() if by == "send" else stage.conversation.release()
        await stage.sleep(WITHIN_MS)
        stage.ears.tell(SpeechEnded(1))
        stage.utterance = 1
        await stage.sleep(100)
        await stage.say("hello there")
        await stage.rest()
        assert asked(stage) == ["hello there"]

    play(scene, ScriptedBrain(otherwise="At ten."))


@pytest.mark.req("H-07.send", "H-07.words")
def test_words_that_go_on_after_the_send_delay_no_request_and_are_asked_once_in_their_order() -> None:
    """Until the text of what was sent is known, its words may still come. Those that come later are the next turn."""

    async def scene(stage: Stage) -> None:
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(500)
        stage.ears.tell(Partial(QUESTION, 0.9, 1))
        await stage.sleep(100)
        stage.conversation.send()
        at = stage.now_ms
        for count in range(1, 5):
            await stage.sleep(400)
            stage.ears.tell(Partial(f"{QUESTION} {' '.join('and what does it cost'.split()[: count + 1])}", 0.9, 1))
        await stage.sleep(100)
        assert asked(stage)[0] == f"{QUESTION} and what"
        assert asked_at(stage)[0] - at <= WITHIN_MS
        stage.ears.tell(SpeechEnded(1))
        stage.ears.tell(Final(f"{QUESTION} and what does it cost", 0.9, 1))
        await stage.sleep(1_000)
        await stage.rest()
        assert stage.said == [f"{QUESTION} and what", "does it cost"]
        assert asked(stage)[-1] == f"{QUESTION} and what does it cost"
        assert stage.lost == []

    play(scene, ScriptedBrain(otherwise="At ten."))


@pytest.mark.req("H-07.send")
@pytest.mark.parametrize("utterances", [1, 3])
def test_new_utterances_after_the_release_do_not_delay_the_request(utterances: int) -> None:
    """A button that was released late, and a radio: each sound begins a new utterance without words."""
    ears = CommittingEars(False, lag_ms=500)

    async def scene(stage: Stage) -> None:
        stage.conversation.press()
        await question(stage, "commit")
        at = stage.now_ms
        stage.conversation.release()
        for number in range(2, 2 + utterances):
            await stage.sleep(100)
            stage.ears.tell(SpeechEnded(0))
            stage.ears.tell(SpeechBegan(number))
        await stage.sleep(10_000)
        assert asked(stage)[0] == QUESTION
        assert asked_at(stage)[0] - at <= WITHIN_MS

    play(scene, ScriptedBrain(otherwise="At ten."), ears=ears)

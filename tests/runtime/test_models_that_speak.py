"""What the runtime requests of a speech-to-speech model, and reports to it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from duologue.observe import signals as sg
from duologue.ports import AgentSaid, Part, Request, Sound
from duologue.runtime.agent import Agent, Phrases
from duologue.voice.ledger import Ledger
from tests.runtime.runtime_fakes import Stage, play


class Model:
    """Speaks by itself, and keeps its own record of what it said."""

    def __init__(self) -> None:
        self.cuts: list[tuple[int, int]] = []
        self.spoken: list[str] = []

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        for text in ("One two ", "three four ", "five six "):
            yield Sound(1_000, text=text, more=True)
        yield Sound(10)

    def truncate(self, reply: int, heard_ms: int) -> None:
        self.cuts.append((reply, heard_ms))

    async def speak(self, text: str) -> AsyncIterator[Sound]:
        self.spoken.append(text)
        yield Sound(300)


@pytest.mark.req("L-06")
def test_a_model_is_notified_once_of_exactly_how_much_was_heard() -> None:
    model = Model()

    async def scene(stage: Stage) -> None:
        await stage.say("count")
        await stage.until(lambda: stage.line.heard_ms >= 1_230)
        stage.conversation.interrupt()
        await stage.rest()

    stage = play(scene, model, voice=None)
    (cut,) = [item for item in stage.conversation.history if isinstance(item, AgentSaid)]
    assert model.cuts == [(cut.reply, cut.heard_ms)]
    assert cut.heard_ms == stage.line.played[1]
    assert cut.text == "One two"  # 1230 of 3010 ms, by the length of the words


def test_a_model_is_not_notified_of_a_reply_that_was_heard_to_its_end() -> None:
    model = Model()

    async def scene(stage: Stage) -> None:
        await stage.say("count")
        await stage.rest()

    stage = play(scene, model, voice=None)
    assert stage.heard == ["One two three four five six"]
    assert model.cuts == []


def test_a_model_that_fails_to_truncate_does_not_harm_the_conversation() -> None:
    class Clumsy(Model):
        def truncate(self, reply: int, heard_ms: int) -> None:
            raise RuntimeError("no such item")

    async def scene(stage: Stage) -> None:
        await stage.say("count")
        await stage.until(lambda: stage.line.heard_ms >= 500)
        stage.conversation.interrupt()
        await stage.rest()
        await stage.say("again")
        await stage.rest()

    stage = play(scene, Clumsy(), voice=None)
    assert any("RuntimeError" in problem for problem in stage.problems)
    assert stage.heard[-1] == "One two three four five six"


def test_set_phrases_are_spoken_in_the_models_own_voice() -> None:
    model = Model()

    async def scene(stage: Stage) -> None:
        await stage.until(lambda: bool(stage.told(sg.TurnCompleted)))

    stage = play(scene, model, voice=None, phrases=Phrases(greeting="Good day."))
    assert Agent(model).voice is model
    assert model.spoken == ["Good day."]
    assert stage.heard == ["Good day."]


# -- The ledger of such a model


def test_words_share_the_sound_of_all_pieces_once_it_is_whole() -> None:
    ledger = Ledger()
    ledger.add(Sound(1_000, text="aaaa bbbb cccc dddd", more=True))  # the text runs ahead of its sound
    ledger.add(Sound(1_000, more=True))
    ledger.add(Sound(2_000))
    assert ledger.split(1_100).heard == "aaaa"
    assert ledger.split(2_200).heard == "aaaa bbbb"
    assert ledger.split(4_000).heard == "aaaa bbbb cccc dddd"


def test_text_whose_sound_never_came_is_not_heard() -> None:
    ledger = Ledger()
    ledger.add(Sound(300, text="aaaa bbbb cccc dddd", more=True))
    assert ledger.split(300).heard == ""
    ledger.add(Sound(100, more=True))
    assert ledger.split(400).heard == "aaaa"


def test_a_sentence_after_a_model_broke_off_stands_by_itself() -> None:
    ledger = Ledger()
    ledger.add(Sound(400, text="aaaa bbbb", more=True))
    ledger.begin("Sorry.")
    ledger.add(Sound(300))
    ledger.end()
    heard, unheard = ledger.split(700)
    assert heard.endswith("Sorry.")
    assert (heard.startswith("aaaa"), "bbbb" in unheard) == (True, True)

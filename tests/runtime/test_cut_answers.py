"""An answer that a lost line has cut off is taken up from the sentence that was cut, or offered, and nothing is said
twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.core.settings import profile
from duologue.lines.scripted import ScriptedLine
from duologue.phrases.texts import texts_in
from duologue.ports.brain import Firm, LastWords
from duologue.ports.ears import Final, SpeechBegan, SpeechEnded
from duologue.ports.history import AgentSaid, UserSaid
from duologue.ports.line import Finished, LineEvent, Played, Stopped
from duologue.ports.scripted_steps import Delay, Hang
from duologue.ports.sound import Sound
from duologue.runtime.agent import Agent
from duologue.runtime.simulated_clock import run_simulated
from duologue.store.memory import MemoryStore
from duologue.voice.scripted import ScriptedVoice
from tests.runtime.runtime_fakes import Stage, play
from tests.runtime.test_crashes import Process, begin
from tests.runtime.test_lost_questions import SOON_S, quiet, until

FIRST, SECOND, THIRD = "The train leaves at nine.", "It stops in five towns.", "You arrive in the evening."
ANSWER = f"{FIRST} {SECOND} {THIRD}"
BACK, YES = texts_in("en").spoken["connection_back"], texts_in("en").spoken["yes"]
CALM: dict[str, Any] = {"greets": False, "dead_air_ms": 0}


def make(*answers: Any, **more: Any) -> Agent:
    brain = ScriptedBrain(list(answers) or [ANSWER, "Something else."])
    return Agent(brain, voice=ScriptedVoice(), profile=profile("confirm", **CALM), **more)


def said(process: Process) -> list[str]:
    """What the history says was heard, one text for each reply."""
    return [item.text for item in process.conversation.history if isinstance(item, AgentSaid) and item.text]


async def cut_in(sentence: str, agent: Agent | None = None, **line: Any) -> Process:
    """The line is lost a little after the beginning of this sentence."""
    process = await begin(MemoryStore(), agent or make())
    for name, value in line.items():
        setattr(process.line, name, value)
    process.conversation.type("when does it leave?")
    await until(lambda: process.line.is_sounding)
    speech = process.conversation.engine.playback.speech
    assert speech is not None
    await until(lambda: sentence in speech.ledger.text)
    words = speech.ledger.words
    start = next(at for at in range(len(words)) if sentence.startswith(words[at].text) and _is_at(words, at, sentence))
    await until(lambda: process.line.heard_ms >= words[start].end_ms + 100)
    process.line.drop()
    return process


def _is_at(words: list[Any], at: int, sentence: str) -> bool:
    return " ".join(word.text for word in words[at : at + len(sentence.split())]) == sentence


@pytest.mark.req("H-11.cut", "H-02.cut")
@pytest.mark.parametrize(("sentence", "rest"), [(FIRST, ANSWER), (SECOND, f"{SECOND} {THIRD}"), (THIRD, THIRD)])
def test_an_answer_is_taken_up_from_the_sentence_that_was_cut(sentence: str, rest: str) -> None:
    async def scene() -> None:
        process = await cut_in(sentence)
        await asyncio.sleep(SOON_S)
        await quiet(process)
        assert said(process)[-1] == rest
        assert len(process.conversation.agent.thinker.requests) == 1, "the brain isn't asked again"
        process.die()

    run_simulated(scene())


@pytest.mark.req("H-11.cut", "H-02.cut")
def test_an_answer_that_is_cut_again_and_again_is_heard_to_its_end_once() -> None:
    async def scene() -> None:
        process = await cut_in(FIRST)
        for sentence in (SECOND, THIRD):
            await until(lambda: process.line.is_sounding)
            speech = process.conversation.engine.playback.speech
            assert speech is not None
            end_ms = sum(word.end_ms - word.start_ms for word in speech.ledger.words) // 2
            await until(lambda end_ms=end_ms: process.line.heard_ms >= end_ms)
            process.line.drop()
            assert sentence in speech.ledger.text
        await asyncio.sleep(SOON_S)
        await quiet(process)
        whole = " ".join(said(process))
        assert all(whole.count(sentence) == 1 for sentence in (FIRST, SECOND, THIRD)), said(process)
        process.die()

    run_simulated(scene())


@pytest.mark.req("H-11.cut")
def test_an_answer_of_which_all_was_heard_after_all_is_not_repeated() -> None:
    async def scene() -> None:
        process = await cut_in(THIRD, knows_heard=False)
        speech = process.conversation.engine.playback.cut
        assert speech is not None
        await asyncio.sleep(0.1)
        process.line.tell(Stopped(speech.voice, speech.ledger.total_ms))  # the client had all of it
        sounds = len(process.line.played)
        await asyncio.sleep(SOON_S)
        await quiet(process)
        assert len(process.line.played) == sounds
        assert said(process) == [ANSWER]
        process.die()

    run_simulated(scene())


@pytest.mark.req("H-11.cut")
def test_without_a_report_of_what_was_heard_the_agent_offers_to_go_on() -> None:
    async def scene() -> None:
        process = await cut_in(SECOND, knows_heard=False)
        await asyncio.sleep(SOON_S)
        await quiet(process)
        back, offer = said(process)[-1].rsplit(". ", 1)
        assert "connect" in back
        assert offer in ("Shall I go on?", "Would you like me to continue?")
        assert "train" not in said(process)[-1]
        process.die()

    run_simulated(scene())


@pytest.mark.req("H-11.cut")
def test_a_client_that_has_heard_less_than_is_known_of_it_is_a_new_one_and_gets_the_offer() -> None:
    async def scene() -> None:
        process = await cut_in(SECOND, knows_heard=False)
        speech = process.conversation.engine.playback.cut
        assert speech is not None
        process.line.tell(Stopped(speech.voice, 0))
        await asyncio.sleep(SOON_S)
        await quiet(process)
        assert "?" in said(process)[-1]
        assert "train" not in said(process)[-1]
        process.die()

    run_simulated(scene())


@pytest.mark.req("H-11.cut")
def test_an_answer_that_the_brain_had_not_written_to_its_end_is_offered() -> None:
    async def scene() -> None:
        agent = make([f"{FIRST} {SECOND} ", Delay(6_000), Hang()])
        process = await cut_in(SECOND, agent)
        await asyncio.sleep(SOON_S)
        await quiet(process)
        assert said(process)[-1].endswith("?")
        assert SECOND not in said(process)[-1]
        process.die()

    run_simulated(scene())


@pytest.mark.req("H-11.cut")
def test_words_that_are_said_meanwhile_are_answered_and_the_old_answer_is_not_taken_up() -> None:
    async def scene() -> None:
        process = await cut_in(SECOND)
        process.conversation.type("never mind, something else")
        await asyncio.sleep(SOON_S)
        await quiet(process)
        assert said(process)[-1] == "Something else."
        assert said(process)[-2].startswith(FIRST)
        assert THIRD not in " ".join(said(process))
        process.die()

    run_simulated(scene())


@pytest.mark.req("H-11.cut")
def test_an_answer_that_the_person_stopped_is_not_taken_up() -> None:
    async def scene() -> None:
        process = await begin(MemoryStore(), make())
        process.conversation.type("when does it leave?")
        await until(lambda: process.line.is_sounding and process.line.heard_ms > 800)
        process.conversation.interrupt()
        process.line.drop()
        sounds = len(process.line.played)
        await asyncio.sleep(SOON_S)
        assert len(process.line.played) == sounds
        process.die()

    run_simulated(scene())


@pytest.mark.req("H-05", "H-11.cut")
def test_last_words_are_taken_up_and_the_conversation_ends_after_them() -> None:
    async def scene() -> None:
        process = await cut_in(SECOND, make([LastWords(ANSWER)]))
        await process.conversation.wait()
        assert said(process)[-1] == f"{SECOND} {THIRD}"

    run_simulated(scene())


@pytest.mark.req("H-05", "H-11.cut")
def test_last_words_are_said_to_their_end_even_if_it_is_not_known_how_much_was_heard() -> None:
    async def scene() -> None:
        process = await cut_in(SECOND, make([LastWords(ANSWER)]), knows_heard=False)
        await process.conversation.wait()
        assert said(process)[-1].endswith(f"{SECOND} {THIRD}")

    run_simulated(scene())


@pytest.mark.req("H-01.signs", "H-14")
@pytest.mark.parametrize("knows_heard", [True, False])
def test_an_offer_that_a_lost_line_cuts_off_is_made_again_and_stays_the_agents_own(knows_heard: bool) -> None:
    async def scene() -> None:
        process = await cut_in(SECOND, knows_heard=False)
        await until(lambda: process.line.is_sounding)
        process.line.knows_heard = knows_heard
        offer = process.conversation.engine.playback.speech
        assert offer is not None
        assert offer.ledger.text != ANSWER
        await until(lambda: process.line.heard_ms >= 60)
        process.line.drop()
        await until(lambda: process.line.is_sounding)
        again = process.conversation.engine.playback.speech
        assert again is not None
        assert again.reply != offer.reply
        assert again.ledger.question_text()
        state = process.conversation.engine.hearing.state
        assert (state.aside_question.reply, state.asked_question.reply) == (again.reply, 0)
        process.die()

    run_simulated(scene())


@pytest.mark.req("H-14", "H-11.cut")
@pytest.mark.parametrize("knows_heard", [True, False])
def test_a_question_in_an_offer_is_the_agents_own_and_one_in_the_rest_is_the_answers(knows_heard: bool) -> None:
    async def scene() -> None:
        process = await cut_in(SECOND, knows_heard=knows_heard)
        await asyncio.sleep(0.1)
        engine = process.conversation.engine
        found = engine.cut_answers.next(engine.agent, 3)
        assert (found.repeats, found.is_aside) == (knows_heard, not knows_heard)
        process.die()

    run_simulated(scene())


# -- A sound without words


async def cough_at(heard_ms: int, tail_ms: int = 0) -> Process:
    """A cough that takes the floor when so much of the answer was heard. The answer ends with this much silence."""

    class TailedVoice(ScriptedVoice):
        async def speak(self, text: str) -> AsyncIterator[Sound]:
            async for sound in super().speak(text):
                yield sound
            yield Sound(tail_ms)

    brain = ScriptedBrain([FIRST])
    agent = Agent(brain, voice=TailedVoice() if tail_ms else ScriptedVoice(), profile=profile("immediate", **CALM))
    process = await begin(MemoryStore(), agent)
    process.conversation.type("when does it leave?")
    await until(lambda: process.line.is_sounding and process.line.heard_ms >= heard_ms)
    process.conversation.press()
    await asyncio.sleep(0.2)
    process.conversation.release()
    await asyncio.sleep(SOON_S)
    await quiet(process)
    return process


@pytest.mark.req("H-04.offer")
def test_a_sound_that_cut_an_answer_off_is_followed_by_an_offer_to_go_on() -> None:
    async def scene() -> None:
        process = await cough_at(600)
        assert said(process)[-1] in ("Shall I go on?", "Would you like me to continue?")
        process.die()

    run_simulated(scene())


@pytest.mark.req("H-04.offer", "H-11.cut")
def test_after_a_sound_behind_the_last_word_there_is_nothing_to_go_on_with_and_the_agent_says_yes() -> None:
    async def scene() -> None:
        process = await cough_at(len(FIRST) * 60 + 200, tail_ms=2_000)
        assert said(process)[-1] in texts_in("en").spoken["yes"]
        process.die()

    run_simulated(scene())


# -- Another process takes over


async def taken_over(heard: str, played_to: str | None) -> Process:
    """A process dies while it says this sentence, and another takes over. The client has heard the answer up to the end
    of the sentence `played_to`, or gives no report."""
    store, agent = MemoryStore(), make()
    process = await begin(store, agent)
    process.conversation.type("when does it leave?")
    await until(lambda: process.line.is_sounding)
    speech = process.conversation.engine.playback.speech
    assert speech is not None
    await until(lambda: speech.complete)
    text, words = speech.ledger.text, speech.ledger.words
    end_ms = words[len(text[: text.index(heard) + len(heard)].split()) - 1].end_ms
    await until(lambda: process.line.heard_ms >= end_ms - 300)
    await process.writer.wait_until_saved()
    process.die()
    played_ms = 0
    if played_to is not None:
        ended = words[len(text[: text.index(played_to) + len(played_to)].split()) - 1].end_ms
        played_ms = ended + 50 if played_to != heard else end_ms - 200
    return await begin(store, agent, Played(speech.voice, played_ms) if played_to is not None else None)


@pytest.mark.req("H-11.cut", "H-02.cut")
@pytest.mark.parametrize(
    ("heard", "played_to", "rest"),
    [(SECOND, SECOND, f"{SECOND} {THIRD}"), (THIRD, THIRD, THIRD), (SECOND, FIRST, f"{SECOND} {THIRD}")],
)
def test_a_process_that_takes_over_goes_on_where_the_client_says_that_it_stopped(
    heard: str, played_to: str, rest: str
) -> None:
    async def scene() -> None:
        process = await taken_over(heard, played_to)
        await asyncio.sleep(SOON_S)
        await quiet(process)
        assert said(process)[-1] == rest
        assert len(process.conversation.agent.thinker.requests) == 1
        process.die()

    run_simulated(scene())


@pytest.mark.req("H-11.cut")
def test_a_text_that_can_not_be_interrupted_is_taken_up_too() -> None:
    async def scene() -> None:
        process = await cut_in(SECOND, make([Firm(ANSWER)]))
        await asyncio.sleep(SOON_S)
        await quiet(process)
        assert said(process)[-1] == f"{SECOND} {THIRD}"
        process.die()

    run_simulated(scene())


# -- Words that were only overheard


class LosesAnEnd(ScriptedLine):
    """A line that loses the report that the first voice has ended."""

    async def open(self, notify: Callable[[LineEvent], None]) -> None:
        def pass_on(event: LineEvent) -> None:
            if not (isinstance(event, Finished) and event.voice == 1):
                notify(event)

        await super().open(pass_on)


@pytest.mark.req("H-02.cut", "M-09")
@pytest.mark.parametrize(
    ("text", "asks"), [("could you look up the next train", True), ("mhm", False)], ids=["words", "a backchannel"]
)
def test_after_an_answer_that_was_heard_completely_the_agent_asks_for_words_that_were_only_overheard(
    text: str, asks: bool
) -> None:
    """The words came when the answer was over, but the machine didn't know that, and the ears were unsure of them."""

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(2_000)
        assert not stage.line.is_sounding
        stage.ears.tell(SpeechBegan(2))
        await stage.sleep(600)
        stage.ears.tell(SpeechEnded(2))
        stage.ears.tell(Final(text, 0.1, 2))
        await stage.sleep(1_000)
        assert stage.conversation.history[-1] == UserSaid(2, text, True, 0.1)
        stage.line.drop()
        await stage.sleep(6_000)
        assert (stage.heard[-1] in {f"{back} {yes}" for back in BACK for yes in YES}) is asks, stage.heard

    play(scene, ScriptedBrain(["Good day to you."]), line=LosesAnEnd(), profile=profile("words", **CALM))

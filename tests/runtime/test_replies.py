"""Brains and voices that fail, hang or yield nonsense: the user gets an answer or a fault is shown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from typing import Any

import pytest

from duologue.core import events as ev
from duologue.core.leaves import ErrorClass, FaultSource
from duologue.observe import signals as sg
from duologue.ports import (
    LastWords,
    Request,
    ServiceError,
    Show,
    Sound,
    ToolCall,
)
from duologue.ports.brain import Part as BrainPart
from duologue.ports.markup import TaggedText
from duologue.spoken.forms import Pronunciation
from duologue.testing import Delay, Fail, Hang, ScriptedBrain, ScriptedVoice, scripted_tool
from tests.runtime.runtime_fakes import Stage, others, play

TWO = "Here is the first sentence. And here comes the second one, which is longer."


async def hear_answer(stage: Stage) -> None:
    await stage.say("hello there")
    await stage.rest()


@pytest.mark.req("L-12", "L-13")
@pytest.mark.parametrize("error", [ErrorClass.RATE_LIMIT, ErrorClass.NETWORK_TIMEOUT])
def test_a_brain_that_fails_three_times_is_asked_after_one_two_and_four_seconds(error: ErrorClass) -> None:
    asked: list[int] = []

    async def scene(stage: Stage) -> None:
        def reply(request: Request) -> Any:
            asked.append(stage.now_ms)
            return Fail(error) if len(asked) < 4 else "Good day."

        brain.script = reply
        await hear_answer(stage)
        assert [later - earlier for earlier, later in pairwise(asked)] == [1_000, 2_000, 4_000]
        assert stage.heard == ["Good day."]
        assert stage.said == ["hello there"]
        assert stage.told(sg.Failed) == []

    brain = ScriptedBrain(lambda request: "")
    play(scene, brain)


@pytest.mark.req("L-12", "L-13")
def test_a_brain_that_fails_for_good_is_a_fault_and_the_turn_is_reported_lost() -> None:
    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert [(signal.part, signal.error) for signal in stage.told(sg.Failed)] == [
            (FaultSource.BRAIN, ErrorClass.UNKNOWN)
        ]
        assert stage.lost == ["hello there"]
        assert stage.said == ["hello there"]
        await stage.say("once more")
        await stage.rest()
        assert stage.heard == ["Good day."]

    def reply(request: Request) -> str:
        if request.text == "hello there":
            raise KeyError("a secret")
        return "Good day."

    stage = play(scene, reply)
    assert not any("secret" in problem for problem in stage.problems)


@pytest.mark.req("M-05")
def test_a_brain_that_fails_after_some_words_and_before_any_sound_is_asked_again_whole() -> None:
    brain = ScriptedBrain([["Half a", Fail(ErrorClass.SERVER_ERROR)], "A whole answer."])

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["A whole answer."]
        assert len(brain.requests) == 2

    play(scene, brain)


@pytest.mark.req("M-05")
def test_a_brain_that_fails_while_it_is_heard_ends_where_it_is_and_is_not_asked_again() -> None:
    brain = ScriptedBrain([["Here is the first sentence. And", Delay(500), Fail(ErrorClass.SERVER_ERROR)]])

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert len(stage.heard) == 1
        assert stage.heard[0].startswith("Here is the first sentence.")
        assert len(brain.requests) == 1
        assert stage.told(sg.Failed) == []
        assert stage.lost == []

    play(scene, brain)


@pytest.mark.req("L-12", "C-AC-006", "C-SEC-003")
def test_a_brain_that_refuses_our_key_ends_the_conversation_with_a_hint_and_no_secret() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        async with asyncio.timeout(10):
            await stage.conversation.wait()
        assert [cue.cue for cue in stage.told(sg.CueGiven)] == ["ended"], "the end is said before the line is closed"
        fault = stage.told(sg.Failed)[0]
        assert fault.fatal
        assert "key" in fault.hint
        told = " ".join(str(signal) for signal in stage.signals if isinstance(signal, sg.Failed | sg.Problem))
        assert "sk-123" not in told
        assert stage.said == ["hello there"]
        assert stage.lost == ["hello there"]

    class Refused(Exception):
        status_code = 401

    def reply(request: Request) -> str:
        raise Refused("the key sk-123 is wrong")

    play(scene, reply)


@pytest.mark.req("C-PER-004", "C-AC-008", "M-01", "L-04")
def test_a_brain_that_hangs_is_asked_again_after_eight_seconds_and_given_up_after_thirty() -> None:
    brain = ScriptedBrain([Hang()] * 9)

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        asked_at = next(m.event.at for m in stage.records for e in m.effects if type(e).__name__ == "StartReply")
        await stage.until(lambda: bool(stage.told(sg.Failed)))
        assert stage.now_ms - asked_at in range(29_900, 30_050)
        assert len(brain.requests) in (3, 4)
        await stage.rest()
        assert stage.state == "listening"
        assert stage.lost == ["hello there"]
        assert [name for name in others() if name.startswith(("reply", "voice"))] == []

    play(scene, brain)


@pytest.mark.req("L-04")
def test_a_brain_that_hangs_after_a_word_is_asked_again_as_one_that_hangs_before_it() -> None:
    brain = ScriptedBrain([["Well", Hang()], "Good day."])

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        asked_at = stage.now_ms
        await stage.rest()
        assert stage.now_ms - asked_at <= 8_000 + 1_000 + 2_000
        assert stage.heard == ["Good day."]
        assert len(brain.requests) == 2
        assert stage.told(sg.Failed) == []

    play(scene, brain)


@pytest.mark.req("L-04")
def test_a_brain_that_always_hangs_after_a_word_is_given_up_after_thirty_seconds() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: bool(stage.told(sg.Failed)))
        assert stage.now_ms <= 32_000
        await stage.rest()
        assert stage.lost == ["hello there"]

    play(scene, ScriptedBrain([["Well", Hang()]] * 9))


@pytest.mark.req("M-06", "L-05")
def test_a_brain_that_hangs_in_mid_speech_is_not_waited_for_for_ever_and_says_so() -> None:
    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["Here is the first sentence. Sorry, I lost the rest of that."]
        assert stage.state == "listening"
        assert stage.now_ms < 15_000

    play(scene, ScriptedBrain([["Here is the first sentence. And", Hang()]]))


@pytest.mark.req("L-12")
@pytest.mark.parametrize("garbage", [None, 5, b"bytes", object(), ["a list"], {"a": 1}])
def test_a_brain_that_yields_garbage_once_is_asked_again(garbage: object) -> None:
    answers = [garbage, "A whole answer."]

    class Garbler:
        async def reply(self, request: Request) -> AsyncIterator[Any]:
            yield answers.pop(0)

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["A whole answer."]
        assert any("the brain yielded" in problem for problem in stage.problems)

    play(scene, Garbler())


@pytest.mark.req("L-12", "L-13")
def test_a_brain_that_always_yields_garbage_becomes_a_fault() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: bool(stage.told(sg.Failed)))
        assert stage.told(sg.Failed)[0].part is FaultSource.BRAIN

    async def reply(request: Request) -> AsyncIterator[Any]:
        yield 5

    play(scene, reply)


@pytest.mark.req("L-04")
@pytest.mark.parametrize("parts", [[""], ["", "  ", "\n\n"]])
def test_an_empty_answer_gives_the_floor_back(parts: list[str]) -> None:
    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.state == "listening"
        assert stage.heard == []
        assert stage.now_ms < 5_000
        await stage.say("and again")
        await stage.rest()
        assert stage.said == ["hello there", "and again"]

    play(scene, ScriptedBrain([parts, parts]))


@pytest.mark.req("L-12", "L-13")
def test_a_brain_that_says_nothing_is_asked_once_more_and_then_the_person_is_told() -> None:
    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["There you are."]
        await stage.say("and again")
        await stage.rest()
        assert stage.lost == ["and again"]
        assert [cue.cue for cue in stage.told(sg.CueGiven)] == ["empty"]
        assert stage.told(sg.Failed) == []

    play(scene, ScriptedBrain([[], "There you are.", [], []]))


@pytest.mark.req("V-05", "C-INT-005")
def test_a_brain_that_goes_on_after_it_was_cancelled_is_not_heard_and_calls_nothing() -> None:
    tool = scripted_tool("pay")
    heard_of_cancel: list[int] = []

    class Deaf:
        async def reply(self, request: Request) -> AsyncIterator[BrainPart]:
            if request.text != "hello there":
                yield "The new answer."
                return
            yield "The old answer begins. "
            for _ in range(10):
                try:
                    await asyncio.sleep(0.5)
                except asyncio.CancelledError:
                    heard_of_cancel.append(1)
                yield "The old answer goes on. "
                yield ToolCall("pay")

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(100)
        stage.conversation.interrupt()
        await stage.sleep(300)
        await stage.say("something else")
        await stage.rest()
        await stage.sleep(10_000)
        assert heard_of_cancel
        assert stage.heard[-1] == "The new answer."
        assert len(stage.heard) == 2
        assert tool.calls == []
        assert "goes on" not in " ".join(stage.heard)
        outputs = {item.call for item in stage.outputs}
        made = {number for item in stage.conversation.history for number, _ in getattr(item, "calls", ())}
        assert made == outputs

    play(scene, Deaf(), tools=[tool])


@pytest.mark.req("L-06")
def test_a_brain_whose_cleanup_hangs_does_not_hold_up_the_next_answer() -> None:
    class Untidy:
        async def reply(self, request: Request) -> AsyncIterator[BrainPart]:
            if request.text != "hello there":
                yield "The new answer."
                return
            try:
                yield TWO
                await asyncio.sleep(50)
            finally:
                await asyncio.sleep(100)

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(200)
        stage.conversation.interrupt()
        await stage.say("something else")
        await stage.until(lambda: stage.heard[-1:] == ["The new answer."], 10)

    play(scene, Untidy())


@pytest.mark.parametrize("make", ["async", "sync", "generator", "list"])
def test_a_plain_function_is_a_brain(make: str) -> None:
    async def answer(request: Request) -> str:
        await asyncio.sleep(0.1)
        return f"You said {request.text}."

    def generate(request: Request) -> Any:
        yield "You said "
        yield f"{request.text}."

    brains = {
        "async": answer,
        "sync": lambda request: f"You said {request.text}.",
        "generator": generate,
        "list": lambda request: ["You said ", request.text, "."],
    }

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["You said hello there."]

    play(scene, brains[make])


class PlainIterator:
    """An async iterator that is no generator: it has no `aclose`, and the port does not ask for one."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __aiter__(self) -> PlainIterator:
        return self

    async def __anext__(self) -> Any:
        if not self.items:
            raise StopAsyncIteration
        return self.items.pop(0)


def test_a_brain_may_return_any_async_iterator() -> None:
    class Plain:
        def reply(self, request: Request) -> AsyncIterator[BrainPart]:
            return PlainIterator(["You said ", f"{request.text}."])

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["You said hello there."]
        assert stage.told(sg.Failed) == []
        assert stage.problems == []

    play(scene, Plain())


def test_a_voice_may_return_any_async_iterator() -> None:
    class Plain:
        def speak(self, text: str) -> AsyncIterator[Sound]:
            return PlainIterator([Sound(300), Sound(300)])

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["Good day."]
        assert stage.problems == []

    play(scene, ScriptedBrain(["Good day."]), voice=Plain())


@pytest.mark.req("L-04")
def test_text_for_the_screen_alone_is_history_and_costs_no_sound() -> None:
    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["print(1)"]
        assert not any(act.what == "play" for act in stage.line.log)

    play(scene, ScriptedBrain([[Show("print(1)")]]))


@pytest.mark.req("C-INT-004")
def test_text_for_the_screen_beside_speech_reaches_the_screen() -> None:
    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert any("print(1)" in caption.text for caption in stage.told(sg.Caption))

    play(scene, ScriptedBrain([["Here is the code.", Show("print(1)")]]))


@pytest.mark.req("L-06")
def test_text_that_was_shown_stays_in_the_history_when_the_speech_beside_it_is_interrupted() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(800)
        stage.conversation.interrupt()
        await stage.rest()
        assert "print(1)" in " ".join(stage.heard)

    play(scene, ScriptedBrain([[Show("print(1)"), TWO]]))


def test_an_agent_without_a_voice_answers_in_writing() -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("hello there")
        await stage.rest()
        assert stage.heard == ["Good day. How are you?"]
        assert stage.state == "listening"

    play(scene, ScriptedBrain(["Good day. How are you?"]), voice=None, ears=None)


def test_a_model_that_speaks_by_itself_is_heard_and_cut_like_any_other() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(1_500)
        stage.conversation.interrupt()
        await stage.rest()
        assert len(stage.heard) == 1
        assert "one two three four five six".startswith(stage.heard[0])
        assert stage.heard[0] != "one two three four five six"

    sounds = [Sound(500, text=f"{word} ") for word in "one two three four five six".split()]
    play(scene, ScriptedBrain([sounds]), voice=None)


def test_a_service_error_keeps_its_class_through_a_reply() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(1_200)
        assert stage.conversation.machine_state.link.value in ("backing_off", "reconnecting", "up")
        await stage.rest()
        assert stage.heard == ["Good day."]

    failures = [ServiceError(ErrorClass.SESSION_EXPIRED, "gone")]

    def reply(request: Request) -> str:
        if failures:
            raise failures.pop()
        return "Good day."

    stage = play(scene, reply)
    assert any(signal.source == "session" for signal in stage.told(sg.Recovered))


class Voice:
    """Speaks like a scripted voice, but for what a test does to each sentence."""

    def __init__(self, spoil: Callable[[int], AsyncIterator[Any]] | None = None) -> None:
        self.spoil = spoil
        self.sentences: list[str] = []

    async def speak(self, text: str) -> AsyncIterator[Any]:
        self.sentences.append(text)
        if self.spoil is not None:
            async for sound in self.spoil(len(self.sentences)):
                yield sound
            return
        async for sound in ScriptedVoice().speak(text):
            yield sound


@pytest.mark.req("L-12", "L-13")
def test_a_voice_that_fails_before_its_first_sound_is_tried_again() -> None:
    async def spoil(count: int) -> AsyncIterator[Any]:
        if count == 1:
            raise ServiceError(ErrorClass.SERVER_ERROR)
        yield Sound(400)

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["Good day."]

    play(scene, ScriptedBrain(["Good day.", "Good day."]), voice=Voice(spoil))


@pytest.mark.req("L-12", "C-SEC-003")
def test_a_voice_that_refuses_our_key_is_named_in_the_hint() -> None:
    async def spoil(count: int) -> AsyncIterator[Any]:
        raise ServiceError(ErrorClass.AUTH_FAILURE)
        yield Sound(400)

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: bool(stage.told(sg.Failed)))
        fault = stage.told(sg.Failed)[0]
        assert fault.part is FaultSource.VOICE, f"the person is sent to the wrong service: {fault.hint}"
        assert "speech output" in fault.hint

    play(scene, ScriptedBrain(["Good day."]), voice=Voice(spoil))


@pytest.mark.req("M-05", "L-06")
def test_of_a_voice_that_fails_in_mid_speech_the_history_holds_what_was_heard() -> None:
    async def spoil(count: int) -> AsyncIterator[Any]:
        yield Sound(600)
        if count == 2:
            raise ServiceError(ErrorClass.SERVER_ERROR)

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard[0].startswith("Here is the first sentence.")
        assert "longer" not in stage.heard[0]

    play(scene, ScriptedBrain([TWO]), voice=Voice(spoil))


@pytest.mark.req("V-01", "V-05")
def test_a_voice_without_a_sound_does_not_pass_for_an_answer() -> None:
    async def spoil(count: int) -> AsyncIterator[Any]:
        for _ in ():
            yield Sound(1)

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        noticed = bool(stage.told(sg.Failed) or stage.problems or stage.lost)
        assert noticed or stage.heard, "the user heard nothing, and no fault was reported"

    play(scene, ScriptedBrain(["Good day."]), voice=Voice(spoil))


@pytest.mark.req("L-06")
def test_a_sentence_without_a_sound_is_not_heard() -> None:
    async def spoil(count: int) -> AsyncIterator[Any]:
        if count != 2:
            yield Sound(500)

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["First. Third."]

    play(scene, ScriptedBrain(["First. Second. Third."]), voice=Voice(spoil))


@pytest.mark.req("L-12")
@pytest.mark.parametrize("garbage", [None, 5, b"pcm", "text"])
def test_a_voice_that_yields_garbage_becomes_a_fault_and_the_turn_is_reported(garbage: object) -> None:
    async def spoil(count: int) -> AsyncIterator[Any]:
        yield garbage

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.told(sg.Failed)
        assert stage.lost == ["hello there"]
        assert stage.state == "listening"

    play(scene, ScriptedBrain(["Good day."] * 3), voice=Voice(spoil))


@pytest.mark.req("M-06")
def test_a_voice_that_hangs_in_mid_speech_is_not_waited_for_for_ever() -> None:
    async def spoil(count: int) -> AsyncIterator[Any]:
        yield Sound(500)
        if count == 1:
            await asyncio.get_running_loop().create_future()

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.now_ms < 20_000
        await stage.say("and again")
        await stage.rest()
        assert stage.heard[-1] == "Once more."

    play(scene, ScriptedBrain([TWO, "Once more."]), voice=Voice(spoil))


@pytest.mark.req("C-INT-005", "V-05")
def test_a_voice_that_raises_a_cancel_of_its_own_does_not_pass_for_an_answer() -> None:
    """Libraries that build on other cancel scopes let CancelledError escape."""

    async def spoil(count: int) -> AsyncIterator[Any]:
        if count == 1:
            raise asyncio.CancelledError
        yield Sound(500)

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["Good day."]

    play(scene, ScriptedBrain(["Good day."] * 3), voice=Voice(spoil))


def test_a_sound_of_no_length_can_not_be_made() -> None:
    for ms in (0, -5, 1.5, "5", None, True):
        with pytest.raises(ValueError, match="milliseconds"):
            Sound(ms)  # type: ignore[arg-type]


@pytest.mark.req("H-05")
@pytest.mark.parametrize("voice", [ScriptedVoice(), None], ids=["spoken", "written"])
def test_the_conversation_ends_after_last_words(voice: ScriptedVoice | None) -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("that was all")
        await stage.until(lambda: stage.conversation.phase == "idle")
        assert stage.heard == ["Thank you. Goodbye."]
        assert stage.lost == []

    play(scene, ScriptedBrain([["Thank you. ", LastWords("Goodbye.")]]), voice=voice)


@pytest.mark.req("H-05")
def test_words_of_the_user_keep_the_conversation_open_after_last_words() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("that was all")
        await stage.until(lambda: stage.line.heard_ms > 800)
        await stage.say("wait one more thing")
        await stage.rest()
        assert stage.conversation.phase == "listening"
        assert stage.heard[-1] == "Of course."

    play(scene, ScriptedBrain([[LastWords("Thank you for calling and goodbye to you.")], "Of course."]))


# -- What is said isn't what is written


class NotingVoice(ScriptedVoice):
    """A voice that notes what it is given, and when."""

    async def speak(self, text: str) -> AsyncIterator[Sound]:
        TEXTS.append(text)
        async for sound in ScriptedVoice.speak(self, text):
            yield sound


TEXTS: list[str] = []


@pytest.mark.req("L-06")
def test_the_voice_gets_the_spoken_form_and_the_history_keeps_what_is_written() -> None:
    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["Dr. Smith paid **$3.50** with SQL. Bye 👋! 🙂"]
        assert TEXTS == ["Doctor Smith paid three dollars and fifty cents with sequel.", "Bye!"]
        captions = [signal.text for signal in stage.told(sg.Caption) if signal.role == "assistant"]
        assert captions[-1] == stage.heard[0]

    TEXTS.clear()
    answer = "Dr. Smith paid **$3.50** with SQL. Bye 👋! 🙂"
    play(scene, ScriptedBrain([answer]), voice=NotingVoice(), pronunciations={"SQL": "sequel"})


class TaggedVoice(NotingVoice):
    """A voice that takes markup."""

    def speak_tagged(self, tagged: TaggedText) -> AsyncIterator[Sound]:
        TAGS.extend((tag.kind, tag.value, tagged.text[tag.start : tag.end]) for tag in tagged.tags)
        return self.speak(tagged.text)


TAGS: list[tuple[str, str, str]] = []
TAGGED = (
    '<emotion value="calm"/>It is 5 p.m. <break time="300ms"/>now, <speed ratio="0.8">Siobhan</speed>. Bye!'
    ' <break time="1s"/>'
)


@pytest.mark.req("L-06")
@pytest.mark.parametrize("voice", [TaggedVoice(), NotingVoice()])
def test_speech_tags_reach_a_voice_that_takes_them_and_are_never_shown_or_said(voice: ScriptedVoice) -> None:
    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["It is 5 p.m. now, Siobhan. Bye!"]
        assert TEXTS == ["It is five p m now, shivawn.", "Bye!"]
        captions = [signal.text for signal in stage.told(sg.Caption) if signal.role == "assistant"]
        assert captions
        assert not any("<" in caption for caption in captions)
        assert (
            [
                ("emotion", "calm", "It is five p m now, shivawn."),
                ("break", "300", ""),
                ("speed", "0.8", "shivawn"),
                ("phonemes", "ʃəvɔn", "shivawn"),
            ]
            if isinstance(voice, TaggedVoice)
            else []
        ) == TAGS

    TEXTS.clear()
    TAGS.clear()
    lexicon = {"Siobhan": Pronunciation("shivawn", ipa="ʃəvɔn")}
    play(scene, ScriptedBrain([TAGGED]), voice=voice, pronunciations=lexicon)


def test_an_agent_without_a_voice_shows_no_speech_tags() -> None:
    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["It is 5 p.m. now, Siobhan. Bye!"]

    play(scene, ScriptedBrain([TAGGED]), voice=None)


@pytest.mark.req("L-06")
def test_an_agent_can_leave_numbers_to_its_voice() -> None:
    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert TEXTS == ["It costs $5."]

    TEXTS.clear()
    play(scene, ScriptedBrain(["It costs $5."]), voice=NotingVoice(), spoken_forms=False)


# -- The first sound doesn't wait for a whole sentence


def first_sound_ms(answer: str, joins_words: bool) -> int:
    """How long the user waits for the first sound of this answer, from a brain of 50 ms a word."""
    times: list[int] = []

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: any(isinstance(record.event, ev.AudioBuffered) for record in stage.records))
        (asked,) = [record.event.at for record in stage.records if isinstance(record.event, ev.ReplyAccepted)]
        (heard,) = [record.event.at for record in stage.records if isinstance(record.event, ev.AudioBuffered)]
        times.append(heard - asked)
        await stage.rest()
        assert stage.heard == [answer]

    voice = ScriptedVoice(joins_words=joins_words)
    play(scene, ScriptedBrain([answer], token_ms=50), voice=voice)
    return times[0]


@pytest.mark.req("T-08")
def test_the_first_sound_of_a_forty_word_sentence_comes_as_soon_as_that_of_a_short_one() -> None:
    short = "The parcel will be with you on Monday at noon. Is that fine?"
    clause = f"The parcel will be with you, {'and then ' * 17}it is there."
    words = f"The parcel will be with you {'and then ' * 17}it is there."
    assert len(words.split()) >= 40
    assert first_sound_ms(clause, joins_words=False) <= first_sound_ms(short, joins_words=False)
    assert first_sound_ms(words, joins_words=True) <= first_sound_ms(short, joins_words=True) + 50
    assert first_sound_ms(words, joins_words=False) > 4 * first_sound_ms(words, joins_words=True)

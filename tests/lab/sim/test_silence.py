"""The measure of silence notices every kind of it, from what the caller said and heard alone, also in a product that is
broken on purpose."""

from __future__ import annotations

import ast
import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.core import cues
from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Cue, ErrorClass
from duologue.core.settings import Settings, profile
from duologue.ears.scripted import ScriptedEars
from duologue.lab.sim import silence
from duologue.lab.sim.audible_sounds import AudibleSound, audible_sounds
from duologue.lab.sim.caller_account import CallerAccount, ServiceSpan, TimeSpan, Uttered, VoiceRequest, now_ms
from duologue.lab.sim.faulty_services import NO_FAULTS, FaultDice
from duologue.lab.sim.invariants import Evidence, no_unexplained_silence
from duologue.lab.sim.population import agent_with_faults, note_finals
from duologue.lab.sim.seeded_callers import CallerAct, SeededCaller
from duologue.lab.sim.silence import HeardCall, Silence, measure, measure_from_voice, waits
from duologue.lines.scripted import LineAct, ScriptedLine
from duologue.observe.signals import CueGiven, Signal
from duologue.ports.brain import Part, Request
from duologue.ports.failure import ServiceError
from duologue.ports.line import Finished
from duologue.ports.scripted_steps import Delay, Fail, Hang
from duologue.ports.sound import Sound
from duologue.ports.tool_call import ToolCall
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.runtime.cues import Cues
from duologue.runtime.driver import Driver
from duologue.runtime.guarded_line import GuardedLine
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated
from duologue.runtime.tool_calls import ToolCalls
from duologue.testing import ScriptedSession
from duologue.testing.person import Person
from duologue.voice.built_in_sounds import thinking_sound
from duologue.voice.scripted import ScriptedVoice
from duologue.workers.scripted import scripted_tool

OPEN = [LineAct(0, "open")]
BEEP = b"\x00\x10\x00\xf0"  # two samples


def asked(at_ms: int = 1_000) -> CallerAccount:
    """A caller who has asked something, which the ears have reported."""
    text = "what is it"
    return CallerAccount([Uttered(at_ms - 500, at_ms, text)], delivered=[(at_ms + 100, text)], ends=[(at_ms, 1)])


def heard(*sounds: AudibleSound, line: list[LineAct] = OPEN, cues: tuple[CueGiven, ...] = (), **more: Any) -> HeardCall:
    return HeardCall(sounds, line, cues, **more)


def spoken(what: str, number: int, start_ms: int, end_ms: int) -> AudibleSound:
    return AudibleSound(what, number, start_ms, end_ms, is_speech=True)


def sound(what: str, number: int, start_ms: int, end_ms: int) -> AudibleSound:
    return AudibleSound(what, number, start_ms, end_ms, is_speech=False)


ANSWERED = spoken("voice", 1, 30_000, 31_000)
WORDS = CueGiven(6_000, "words", "One moment.")


# -- What a caller waits for


def test_a_caller_waits_from_the_question_to_the_end_of_its_answer() -> None:
    assert list(waits(asked(), heard(ANSWERED))) == [TimeSpan(1_000, 31_000)]


@pytest.mark.parametrize(
    ("account", "what"),
    [
        (CallerAccount([Uttered(500, 1_000, "what is it")]), "words that never reached the agent"),
        (CallerAccount([Uttered(500, 1_000)], ends=[(1_000, 1)]), "a sound without words"),
        (
            CallerAccount([Uttered(500, 1_000, "mhm", False)], delivered=[(1_100, "mhm")], ends=[(1_000, 1)]),
            "words that expect no answer",
        ),
    ],
)
def test_a_caller_does_not_wait_for_an_answer_to_these(account: CallerAccount, what: str) -> None:
    assert list(waits(account, heard(ANSWERED))) == [], what


def test_words_over_which_the_agent_speaks_on_are_no_question() -> None:
    on = spoken("voice", 1, 0, 5_000)
    assert list(waits(asked(), heard(on))) == []
    assert list(waits(asked(), heard(spoken("voice", 1, 0, 1_200), ANSWERED._replace(number=2)))) == [
        TimeSpan(1_000, 31_000)
    ]


def test_a_typed_message_and_the_result_of_a_tool_are_waited_for() -> None:
    assert list(waits(CallerAccount(typed=[2_000]), heard(ANSWERED))) == [TimeSpan(2_000, 31_000)]
    tool = ServiceSpan(1_000, 6_000, "tool")
    assert list(waits(CallerAccount(worked=[tool]), heard(ANSWERED))) == [TimeSpan(1_000, 31_000)]
    assert list(waits(CallerAccount(worked=[tool._replace(is_awaited=False)]), heard(ANSWERED))) == []


def test_an_answer_that_comes_before_the_ears_show_the_lost_end_of_the_question_counts() -> None:
    account = asked()
    account.ends.clear()
    assert list(waits(account, heard(spoken("voice", 1, 5_000, 6_000), ANSWERED._replace(number=2)))) == []
    assert list(waits(account, heard(ANSWERED))) == [TimeSpan(11_000, 31_000)]


@pytest.mark.parametrize("service", ["brain", "voice"])
def test_a_caller_waits_while_a_service_works_on_the_rest_of_an_answer(service: str) -> None:
    account = asked()
    account.worked.append(ServiceSpan(1_000, 20_000, service))
    half = spoken("voice", 1, 2_000, 3_000)
    assert list(waits(account, heard(half))) == [TimeSpan(1_000, 20_000)]
    assert measure(account, heard(half)) == Silence(1_000, 1_000, 17_000)


@pytest.mark.parametrize(
    ("account", "call"),
    [
        (CallerAccount(typed=[1_000], gave_up=[4_000]), heard()),
        (CallerAccount(typed=[1_000], hung_up=[4_000]), heard()),
        (CallerAccount(typed=[1_000]), heard(shown=[4_000])),
        (
            CallerAccount(typed=[1_000]),
            heard(spoken("cue", 1, 4_000, 5_000), cues=(CueGiven(3_900, "apology", "I'm sorry."),)),
        ),
    ],
)
def test_a_wait_ends_when_the_caller_knows_that_nothing_more_comes(account: CallerAccount, call: HeardCall) -> None:
    account.hung_up = account.hung_up or [40_000]
    assert list(waits(account, call)) == [TimeSpan(1_000, 4_000)]


def test_an_apology_that_was_never_heard_ends_no_wait() -> None:
    call = heard(ANSWERED, cues=(CueGiven(3_900, "apology", "I'm sorry."),))
    assert list(waits(CallerAccount(typed=[1_000]), call)) == [TimeSpan(1_000, 31_000)]


def test_a_caller_who_speaks_or_pauses_or_can_not_hear_does_not_wait() -> None:
    account = CallerAccount(typed=[1_000], pauses=[TimeSpan(5_000, 8_000)], wobbles=[TimeSpan(10_000, 12_000)])
    account.uttered.append(Uttered(20_000, 22_000, "hm"))
    account.ends.append((22_000, 1))
    line = [*OPEN, LineAct(25_000, "away"), LineAct(28_000, "open")]
    assert list(waits(account, heard(ANSWERED, line=line))) == [
        TimeSpan(1_000, 5_000),
        TimeSpan(8_000, 10_000),
        TimeSpan(12_000, 20_000),
        TimeSpan(22_000, 25_000),
        TimeSpan(28_000, 31_000),
    ]


# -- How long the silence was


@pytest.mark.req("H-01.signs", "H-08")
def test_sounds_without_words_end_no_silence() -> None:
    account = CallerAccount(typed=[1_000])
    for number in range(1, 11):
        at = 1_000 + 2_450 * number
        account.uttered.append(Uttered(at - 200, at))
        account.ends.append((at, number))
    assert measure(account, heard(ANSWERED)) == Silence(29_000 - 10 * 800, 29_000 - 10 * 800)


def test_ears_that_fail_during_an_utterance_do_not_hide_its_end() -> None:
    account = asked()
    account.ends.clear()
    account.delivered[0] = (800, "what is it")
    account.failed.append((900, "ears"))
    assert list(waits(account, heard(ANSWERED))) == [TimeSpan(1_000, 31_000)]


@pytest.mark.req("H-01.signs")
def test_without_a_sound_the_whole_wait_is_silence() -> None:
    assert measure(asked(), heard(ANSWERED)) == Silence(29_000, 29_000, 0)


@pytest.mark.req("H-01.words", "H-01.signs")
def test_a_sound_is_a_sign_but_no_words() -> None:
    sounds = (sound("cue", 1, 4_000, 4_600), spoken("voice", 1, 20_000, 31_000))
    assert measure(asked(), heard(*sounds, cues=(CueGiven(4_000, "sound", ""),))) == Silence(3_000, 19_000, 15_400)


@pytest.mark.req("H-01.words")
def test_words_after_a_sound_that_a_noise_cut_off_at_once_count_as_words() -> None:
    """The noise takes no time on the clock that measures silence, so both cues are given at the same moment of it."""
    account = asked()
    account.uttered.append(Uttered(4_000, 4_300))
    account.ends.append((4_300, 2))
    cues = (CueGiven(4_000, "sound", ""), CueGiven(4_800, "words", "I'm on it."))
    call = heard(spoken("cue", 2, 4_900, 6_000), ANSWERED, cues=cues)
    assert measure(account, call).words_ms == 3_000
    plain = (cues[0], CueGiven(4_900, "sound", ""))
    assert measure(account, heard(sound("cue", 2, 4_900, 6_000), ANSWERED, cues=plain)).words_ms > 20_000


@pytest.mark.req("H-01.words")
def test_a_cue_with_words_counts_as_words() -> None:
    call = heard(spoken("cue", 1, 6_000, 8_000), ANSWERED, cues=(WORDS,))
    assert measure(asked(), call) == Silence(5_000, 5_000, 22_000)


@pytest.mark.req("H-01.words")
@pytest.mark.parametrize(
    ("start_ms", "requests", "failed", "stands_in"),
    [
        (6_000, [], [], False),  # the agent has text, but never asked the voice
        (6_000, [VoiceRequest(6_000, 6_080)], [], False),  # it plays something else than the voice has made
        (6_400, [VoiceRequest(6_000)], [], False),  # the voice may still begin
        (7_400, [VoiceRequest(6_000)], [], True),  # the voice is too late
        (6_100, [VoiceRequest(6_000)], [(6_100, "voice")], True),
        (6_100, [VoiceRequest(6_000)], [(6_100, "ears")], False),
        (6_100, [VoiceRequest(5_000)], [(5_100, "voice")], False),  # it failed with something else
        (20_000, [], [(6_100, "voice")], False),
    ],
)
def test_a_sound_stands_in_for_words_only_if_the_voice_failed_to_say_them(
    start_ms: int, requests: list[VoiceRequest], failed: list[tuple[int, str]], stands_in: bool
) -> None:
    account = CallerAccount(voiced=requests, failed=failed)
    beep = sound("cue", 1, start_ms, start_ms + 500)
    assert heard(cues=(WORDS,)).has_words(beep, account) is stands_in
    assert not heard(cues=(CueGiven(6_000, "sound", ""),)).has_words(beep, account), "there were no words to say"


@pytest.mark.req("H-01.words")
def test_an_apology_that_is_only_a_sound_ends_no_wait() -> None:
    call = heard(sound("cue", 1, 4_000, 5_000), ANSWERED, cues=(CueGiven(3_900, "apology", "I'm sorry."),))
    assert list(waits(CallerAccount(typed=[1_000]), call)) == [TimeSpan(1_000, 31_000)]


@pytest.mark.req("H-01.words", "H-01.signs")
def test_an_answer_that_is_only_a_sound_is_no_answer() -> None:
    call = heard(sound("voice", 1, 2_000, 3_000), ANSWERED._replace(number=2))
    assert list(waits(asked(), call)) == [TimeSpan(1_000, 31_000)]


@pytest.mark.req("H-01.signs")
def test_a_silence_from_the_voice_on_counts_also_if_the_ears_lost_its_end() -> None:
    account = asked()
    account.ends.clear()
    assert measure(account, heard(ANSWERED)).first_ms == 19_000
    assert measure_from_voice(account, heard(ANSWERED)).first_ms == 29_000


def test_the_measure_imports_nothing_of_the_machine() -> None:
    """The words `State`, `StepRecord` and the core's modules don't occur in what it imports."""
    for module in (silence.__file__, silence.__file__.replace("silence", "caller_account")):
        tree = ast.parse(Path(module).read_text())
        imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert not [name for name in imported if "core" in name or "runtime" in name], module


# -- Calls with a product that is broken on purpose


class SlowBrain:
    """Takes twenty seconds for its answer, but shows that it works."""

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        await asyncio.sleep(7)
        yield "Here is "
        await asyncio.sleep(6)
        yield "half of it. "
        await asyncio.sleep(7)
        yield "And here is the rest."


def complaints(*given: Any, **more: Any) -> list[str]:
    """What the measure of silence complains about in such a call."""
    return no_unexplained_silence(played_call(*given, **more))


def played_call(
    brain: Any = None,
    tools: Any = (),
    settings: Settings | None = None,
    act: Callable[[Conversation], Awaitable[None]] | None = None,
    line: ScriptedLine | None = None,
    **more: Any,
) -> Evidence:
    """A call in which one question is asked. `act` is done two seconds after it."""

    async def scene() -> Evidence:
        evidence = Evidence()
        ears, heard_on = ScriptedEars(), line or ScriptedLine()
        chosen = {"voice": ScriptedVoice(), "session": ScriptedSession, **more}
        agent = Agent(brain or SlowBrain(), tools=list(tools), profile=settings or profile("confirm"), **chosen)
        agent = agent_with_faults(agent, ears, FaultDice(random.Random(1), NO_FAULTS), evidence)
        conversation = Conversation(agent, heard_on, seats=Seats())
        conversation.on(Signal, evidence.signals.append)
        note_finals(conversation, evidence)
        evidence.connections = heard_on.connections
        await conversation.start()
        asks = [CallerAct("say", 500, "what is the weather like")]
        await SeededCaller(Person(ears, heard_on), conversation, asks, evidence.account).run()
        await asyncio.sleep(2)
        if act is not None:
            await act(conversation)
        await asyncio.sleep(60)
        evidence.account.hung_up.append(now_ms())
        await conversation.end("over")
        evidence.sounded = audible_sounds(heard_on.recorded, evidence.account.speech)
        assert list(waits(evidence.account, HeardCall(evidence.sounded, heard_on.connections))), "the caller has waited"
        return evidence

    return run_simulated(scene())


TOOL = scripted_tool("lookup", Delay(9_000), "at ten past nine")
CALLS: list[Any] = [[ToolCall("lookup")], "It leaves at ten past nine."]


class DribblingBrain:
    """Says one word a second."""

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        for word in "this answer takes its time and comes one word after the other until it is over".split():
            yield f"{word} "
            await asyncio.sleep(1)


class BrokenVoice:
    """Makes no sound, and fails."""

    async def speak(self, text: str) -> AsyncIterator[Sound]:
        raise ServiceError(ErrorClass.SERVER_ERROR, "no voice")
        yield Sound(1)


async def reconnect(conversation: Conversation) -> None:
    conversation.reconnect()


def always(error: ErrorClass, **more: Any) -> ScriptedBrain:
    return ScriptedBrain(lambda request: [Fail(error)], **more)


DELEGATED = scripted_tool("lookup", Delay(45_000), "at ten past nine", mode="delegate")
DISPATCHED = scripted_tool("lookup", Delay(45_000), "at ten past nine", mode="dispatch")
RENEWING = profile("confirm", session_ms_max=3_000, session_warning_ms=1_000)
SITUATIONS: dict[str, dict[str, Any]] = {
    "the brain is slow": {},
    "the brain hangs": {"brain": ScriptedBrain([[Hang()]])},
    "the brain hangs in the middle": {"brain": ScriptedBrain([["This is the beginning. ", Hang()]])},
    "the brain is tried again": {"brain": ScriptedBrain([[Fail(ErrorClass.SERVER_ERROR)], "It is sunny."])},
    "the brain fails": {"brain": always(ErrorClass.UNKNOWN)},
    "the brain fails again and again": {"brain": always(ErrorClass.SERVER_ERROR)},
    "there are too many requests": {"brain": always(ErrorClass.RATE_LIMIT)},
    "the key is refused": {"brain": always(ErrorClass.AUTH_FAILURE)},
    "the brain says a word a second": {"brain": DribblingBrain()},
    "the brain says nothing": {"brain": ScriptedBrain(["", ""])},
    "a tool runs": {"brain": ScriptedBrain(CALLS), "tools": [TOOL]},
    "a job runs": {"brain": ScriptedBrain(CALLS), "tools": [DELEGATED]},
    "a job runs in the background": {"brain": ScriptedBrain(CALLS), "tools": [DISPATCHED]},
    "a tool hangs": {"brain": ScriptedBrain(CALLS), "tools": [scripted_tool("lookup", Hang())]},
    "the session is opened again": {"act": reconnect},
    "the new session is slow": {"act": reconnect, "session": lambda: ScriptedSession(open_ms=9_000)},
    "the session is renewed": {"settings": RENEWING, "session": lambda: ScriptedSession(renew_ms=8_000)},
    "the voice fails": {"brain": ScriptedBrain(["It is sunny."]), "voice": BrokenVoice()},
}


@pytest.mark.req("H-01.words", "H-01.signs")
@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_caller_who_waits_never_hears_an_unexplained_silence_while(situation: str) -> None:
    assert complaints(**SITUATIONS[situation]) == []


@pytest.mark.req("H-01.words")
def test_without_words_a_voice_that_did_not_fail_is_noticed() -> None:
    evidence = played_call(**SITUATIONS["the voice fails"])
    assert not any(one.is_speech for one in evidence.sounded)
    evidence.account.failed.clear()
    assert any("before the first words" in one for one in no_unexplained_silence(evidence))


def play_beep_instead(self: GuardedLine, cue: int, words: Sound) -> bool:
    return self._attempt(lambda: self._line.play_cue(cue, replace(words, pcm=BEEP * (len(words.pcm) // 4)))) is None


async def ask_no_voice(self: Cues, number: int, text: str, cue: Cue) -> None:
    self._line.play_cue(number, thinking_sound())


@pytest.mark.req("H-01.words")
@pytest.mark.parametrize(
    ("of", "name", "broken"), [(GuardedLine, "play_cue", play_beep_instead), (Cues, "_say", ask_no_voice)]
)
def test_a_product_whose_words_are_a_beep_is_noticed(
    monkeypatch: pytest.MonkeyPatch, of: type, name: str, broken: object
) -> None:
    monkeypatch.setattr(of, name, broken)
    found = complaints()
    assert any("before the first words" in one for one in found), found
    assert not any("before the first sign" in one for one in found)


@pytest.mark.req("H-01.signs")
def test_a_product_without_cues_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cues, "play", lambda self, effect: None)
    found = complaints()
    assert any("before the first sign" in one for one in found), found
    assert any("between two signs" in one for one in found) or any("before the first words" in one for one in found)


@pytest.mark.req("H-01.signs")
def test_a_machine_that_thinks_that_nothing_is_waited_for_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cues, "waits_in_silence", lambda s: False)
    assert any("before the first sign" in one for one in complaints())


class LyingLine(ScriptedLine):
    """Plays no voice, and reports that it was heard."""

    def play(self, voice: int, chunk: int, sound: Sound) -> None:
        self.played[voice] = self.played.get(voice, 0) + sound.ms

    def finish(self, voice: int) -> None:
        asyncio.get_running_loop().call_soon(self.tell, Finished(voice, self.played[voice]))


@pytest.mark.req("H-01.signs")
def test_an_answer_that_the_machine_believes_to_be_heard_and_that_was_never_played_is_noticed() -> None:
    found = complaints(ScriptedBrain(["It is sunny."]), line=LyingLine())
    assert any("before the first sign" in one for one in found)


@pytest.mark.req("H-01.signs")
def test_a_question_that_is_swallowed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    post = Driver.post

    def swallow(self: Driver, kind: type[ev.Event], **given: Any) -> None:
        if kind is ev.WordsHeard:
            given |= {"words": 0, "substantial": 0}  # the machine takes all speech for noise
        post(self, kind, **given)

    monkeypatch.setattr(Driver, "post", swallow)
    assert any("before the first sign" in one for one in complaints())


@pytest.mark.req("H-01.signs")
def test_the_result_of_a_tool_that_is_never_told_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(self: ToolCalls, effect: fx.PostOutput) -> None:
        self._driver.post(ev.InterruptRequested)  # the machine drops everything that is waited for

    monkeypatch.setattr(ToolCalls, "post_output", forget)
    assert complaints(ScriptedBrain(CALLS), [TOOL]) != []

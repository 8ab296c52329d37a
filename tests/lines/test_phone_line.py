"""A telephone line against a scripted carrier, in simulated time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.core.leaves import ErrorClass
from duologue.core.settings import profile
from duologue.core.views.phone import see
from duologue.ears.scripted import ScriptedEars
from duologue.flows import parse_flows
from duologue.flows.brain import FlowBrain
from duologue.flows.registry import Registry
from duologue.lab.sim.offline_call import WIRE_MS, OfflineCall
from duologue.lab.sim.scripted_carrier import Format, Network
from duologue.lines.phone.carriers import CARRIERS, TELNYX, TWILIO, Carrier
from duologue.lines.phone.digits import Digits
from duologue.lines.phone.line import LineGone, PhoneLine
from duologue.nlu.local import LocalNlu
from duologue.observe import signals as sg
from duologue.ports.ears import Final, Frame, Partial, SpeechBegan, SpeechEnded, TurnOver
from duologue.ports.history import AgentSaid, UserSaid
from duologue.ports.line import Closed, Finished, LineEvent, Played, Stopped, Unplayable
from duologue.ports.sound import Sound
from duologue.runtime.agent import Agent, Phrases
from duologue.runtime.conversation import Conversation
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated
from duologue.voice.scripted import ScriptedVoice

T = TypeVar("T")
both = pytest.mark.parametrize("carrier", CARRIERS.values(), ids=lambda carrier: carrier.name)
LONG = "This is a rather long answer that goes on and on, so that there is time enough to say something in between."


def tone(ms: int, rate_hz: int = 24_000) -> Sound:
    samples = 8_000 * np.sin(np.arange(rate_hz * ms // 1000) * 2 * np.pi * 440 / rate_hz)
    return Sound(ms, samples.astype("<i2").tobytes(), rate_hz)


class Told(list[LineEvent]):
    """What a line told, without the caller's sound."""

    def __call__(self, event: LineEvent) -> None:
        if not isinstance(event, Frame):
            self.append(event)


def on_a_line(carrier: Carrier, script: Callable[[OfflineCall, PhoneLine, Told], Awaitable[T]], **options: Any) -> T:
    async def call() -> T:
        exchange = OfflineCall(carrier, **options)
        line, told = await exchange.connect(), Told()
        await line.open(told)
        try:
            return await script(exchange, line, told)
        finally:
            exchange.carrier.end()

    return run_simulated(call())


def events(exchange: OfflineCall, event: str) -> list[dict[str, Any]]:
    return [message for message in map(json.loads, exchange.to_carrier.sent) if message["event"] == event]


# -- Sound out


@both
@pytest.mark.req("V-09")
def test_sound_goes_out_in_frames_of_20_ms_with_a_mark_every_100(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(330))
        line.play(1, 2, tone(325))
        line.finish(1)
        await asyncio.sleep(2)
        assert len(events(exchange, "media")) == 33  # the last is filled up to 20 ms
        assert len(events(exchange, "mark")) == 7
        assert told[-1] == Finished(1, 655)
        heard = [event.heard_ms for event in told if isinstance(event, Played)]
        assert heard == [100, 200, 300, 400, 500, 600]
        assert exchange.carrier.played_ms == 660
        assert all(("streamSid" in message) is (carrier is TWILIO) for message in events(exchange, "media"))

    on_a_line(carrier, script)


def test_the_carrier_never_holds_more_than_it_should() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(3_000))
        line.finish(1)
        for _ in range(20):
            await asyncio.sleep(0.05)
            sent_ms = len(events(exchange, "media")) * 20
            assert 0 < sent_ms - exchange.carrier.played_ms <= 200 + 2 * WIRE_MS + 20
        await asyncio.sleep(3)
        assert told[-1] == Finished(1, 3_000)
        assert exchange.carrier.log[-1].ms == 3_000, "played without a gap"

    on_a_line(TWILIO, script)


def test_what_is_sent_sounds_like_what_was_said() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> bytes:
        for chunk in range(1, 11):
            line.play(1, chunk, tone(100, 22_050))
        line.finish(1)
        await asyncio.sleep(2)
        return line.codec.decode(bytes(exchange.carrier.recording))

    heard = np.frombuffer(on_a_line(TELNYX, script), "<i2").astype(float)[800:7200]
    spectrum = np.abs(np.fft.rfft(heard * np.hanning(heard.size)))
    assert abs(int(spectrum.argmax()) * 8_000 / heard.size - 440) < 2


def test_l16_at_16_khz_goes_through() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(200))
        line.finish(1)
        await asyncio.sleep(1)
        assert told[-1] == Finished(1, 200)
        assert len(exchange.carrier.recording) == 200 * 32

    on_a_line(TELNYX, script, format=Format("L16", 16_000, b"\0\0"))


def test_a_carrier_may_send_one_codec_and_expect_another() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(200))
        line.finish(1)
        await asyncio.sleep(1)
        assert told[-1] == Finished(1, 200)
        assert len(exchange.carrier.recording) == 200 * 32
        assert (line.codec.name, line.codec_out.name) == ("PCMU", "L16")

    on_a_line(TELNYX, script, sends=("L16", 16_000))


def test_sound_that_comes_late_makes_a_gap_and_no_hurry() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(200))
        await asyncio.sleep(2)
        line.play(1, 2, tone(400))
        line.finish(1)
        sent = len(events(exchange, "media")) * 20
        assert 360 <= sent <= 400, "only what may be ahead"
        await asyncio.sleep(1)
        assert told[-1] == Finished(1, 600)

    on_a_line(TWILIO, script)


def test_all_was_heard_before_it_was_known_that_it_was_all() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(200, 8_000))
        await asyncio.sleep(1)
        assert told[-1] == Played(1, 200)
        line.finish(1)
        await asyncio.sleep(0)
        assert told[-1] == Finished(1, 200)
        line.play(2, 1, Sound(1))
        line.finish(2)
        await asyncio.sleep(1)
        assert told[-1] == Finished(2, 1)

    on_a_line(TWILIO, script)


# -- Clearing and holding


@both
@pytest.mark.req("V-03")
def test_a_clear_leaves_in_the_very_step_and_no_frame_after_it(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(5_000))
        await asyncio.sleep(1)
        line.clear(1)
        assert json.loads(exchange.to_carrier.sent[-1])["event"] == "clear"
        sent = len(exchange.to_carrier.sent)
        await asyncio.sleep(2)
        assert len(exchange.to_carrier.sent) == sent
        assert not exchange.carrier.is_sounding

    on_a_line(carrier, script)


@both
@pytest.mark.req("V-09")
def test_marks_that_a_clear_flushes_were_not_heard(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(5_000))
        await asyncio.sleep(1)
        before = len(told)
        line.clear(1)
        await asyncio.sleep(1)
        really = exchange.carrier.played_ms
        assert told[before:] == [Stopped(1, told[before - 1].heard_ms)]  # type: ignore[union-attr]
        assert really - 100 - 2 * WIRE_MS - 20 <= told[-1].heard_ms <= really  # type: ignore[union-attr]
        came_back = line.facts.get("flushed_marks", 0)  # one of them was on its way already
        assert came_back == 3 if carrier is TWILIO else came_back <= 1

    on_a_line(carrier, script)


@both
def test_held_sound_is_silent_and_goes_on_from_the_last_mark(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(2_000))
        line.finish(1)
        await asyncio.sleep(1)
        line.hold(1)
        heard = [event.heard_ms for event in told if isinstance(event, Played)][-1]
        await asyncio.sleep(0.1)
        played = exchange.carrier.played_ms
        await asyncio.sleep(1)
        assert exchange.carrier.played_ms == played, "silent"
        line.resume(1)
        await asyncio.sleep(3)
        assert told[-1] == Finished(1, 2_000)
        assert exchange.carrier.played_ms == played + 2_000 - heard, "from the mark to the end"

    on_a_line(carrier, script)


def test_a_wire_that_takes_nothing_any_more_is_told() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(2_000))

        def full(text: str) -> None:
            raise ConnectionError

        exchange.to_carrier.send = full  # type: ignore[method-assign]
        await asyncio.sleep(1)
        assert told[0] == Unplayable(1, ErrorClass.NETWORK_TIMEOUT)

    on_a_line(TWILIO, script)


def test_another_voice_takes_the_place_of_the_one_before() -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(2_000))
        await asyncio.sleep(0.5)
        line.play(2, 1, tone(300))
        line.finish(2)
        line.finish(1)
        await asyncio.sleep(1)
        assert told[-1] == Finished(2, 300)

    on_a_line(TWILIO, script)


# -- The caller


@both
def test_the_caller_is_heard_through_a_bad_network(carrier: Carrier) -> None:
    async def call() -> bytes:
        network = Network(jitter_ms=15, loss=0.02, duplicates=0.05, reordered=0.05, seed=3)
        exchange = OfflineCall(carrier, network=network)
        line = await exchange.connect()
        heard: list[bytes] = []
        await line.open(lambda event: heard.append(event.pcm) if isinstance(event, Frame) else None)
        voice = bytes(range(250)) * 80
        exchange.carrier.speak(voice)
        await asyncio.sleep(4)
        exchange.carrier.hang_up()
        await asyncio.sleep(1)
        facts = line.facts
        assert facts["lost"] > 0
        assert facts["dropped"] > 0
        assert facts["reordered"] > 0
        return line.codec.encode(b"".join(heard))

    heard = run_simulated(call())
    assert 200 * 160 - 6 * 160 <= len(heard) <= 202 * 160, "time keeps"


@both
def test_a_stop_or_a_socket_that_closes_is_a_hang_up(carrier: Carrier) -> None:
    async def script(exchange: OfflineCall, line: PhoneLine, told: Told) -> None:
        line.play(1, 1, tone(2_000))
        exchange.carrier.hang_up()
        await asyncio.sleep(0.1)
        assert told[-1] == Closed(hung_up=True)
        sent = len(exchange.to_carrier.sent)
        exchange.stream.end()
        await asyncio.sleep(1)
        assert told.count(Closed(hung_up=True)) == 1
        assert len(exchange.to_carrier.sent) == sent, "nothing is sent to nobody"
        with pytest.raises(LineGone):
            line.play(2, 1, tone(20))
        with pytest.raises(LineGone):
            await line.open(told)

    on_a_line(carrier, script)


# -- Conversations


class Caller:
    """Somebody on the telephone whom scripted ears understand."""

    def __init__(self, exchange: OfflineCall, ears: ScriptedEars, conversation: Conversation) -> None:
        self.exchange, self.ears, self.conversation = exchange, ears, conversation

    async def say(self, text: str) -> None:
        words = text.split()
        self.ears.tell(SpeechBegan())
        for count in range(1, len(words) + 1):
            await asyncio.sleep(0.25)
            self.ears.tell(Partial(" ".join(words[:count]), 0.9))
        self.ears.tell(SpeechEnded())
        self.ears.tell(Final(text, 0.9))
        await asyncio.sleep(0.1)
        self.ears.tell(TurnOver())

    async def hear_agent(self, ms: int) -> None:
        while self.exchange.carrier.sounding_ms < ms:
            await asyncio.sleep(0.01)

    async def hear_silence(self) -> None:
        while self.conversation.state != "listening" or self.exchange.carrier.is_sounding:
            await asyncio.sleep(0.01)


def in_a_call(
    carrier: Carrier, brain: Any, script: Callable[[Caller], Awaitable[None]], **options: Any
) -> Conversation:
    async def call() -> Conversation:
        exchange, ears = OfflineCall(carrier, **options.pop("exchange", {})), ScriptedEars()
        settings = replace(profile("words"), **options.pop("settings", {}))
        greeting = options.pop("greeting", "Hello, who is it?")
        agent = Agent(
            brain,
            ears=ears,
            voice=ScriptedVoice(),
            profile=settings,
            phrases=Phrases(greeting),
        )
        line = await exchange.connect()
        conversation = Conversation(agent, line, seats=Seats())
        line.pressed = Digits(conversation.type).press
        await conversation.start()
        await script(Caller(exchange, ears, conversation))
        await asyncio.wait_for(conversation.wait(), 600)
        return conversation

    return run_simulated(call())


def said(conversation: Conversation) -> list[str]:
    return [item.text for item in conversation.history if isinstance(item, AgentSaid)]


@both
@pytest.mark.req("V-01", "V-03", "V-04", "V-05", "V-08", "V-09")
def test_speak_interrupt_full_thought_answer_again_and_again(carrier: Carrier) -> None:
    brain = ScriptedBrain(otherwise=LONG)

    async def script(caller: Caller) -> None:
        await caller.hear_agent(300)
        await caller.hear_silence()
        await caller.say("hello there my friend")
        for round_ in range(1, 6):
            await caller.hear_agent(1_500)
            await caller.say("stop please I want something else")
            assert caller.exchange.carrier.clears == round_
        await caller.hear_agent(300)
        await caller.hear_silence()
        caller.exchange.carrier.hang_up()

    conversation = in_a_call(carrier, brain, script)
    asked = [request.text for request in brain.requests]
    assert asked == ["hello there my friend", *["stop please I want something else"] * 5]
    answers = said(conversation)
    assert answers[-1] == LONG, "the next reply always speaks"
    assert all(answer and LONG.startswith(answer) and answer != LONG for answer in answers[1:-1]), "as far as heard"


@both
@pytest.mark.req("V-02", "V-06")
def test_a_word_over_the_agents_voice_is_filtered_and_on_an_open_floor_it_is_not(carrier: Carrier) -> None:
    brain = ScriptedBrain(otherwise=LONG)

    async def script(caller: Caller) -> None:
        await caller.hear_silence()
        await caller.say("4K")
        await caller.hear_agent(1_000)
        await caller.say("okay")
        await caller.hear_silence()
        assert caller.exchange.carrier.clears == 0
        assert caller.exchange.carrier.log[-1].ms > 5_000, "played without a gap"
        caller.exchange.carrier.hang_up()

    in_a_call(carrier, brain, script)
    assert [request.text for request in brain.requests] == ["4K"]


@both
@pytest.mark.req("V-07")
def test_dead_air_is_asked_about_twice_then_the_agent_hangs_up(carrier: Carrier) -> None:
    seen: list[OfflineCall] = []

    async def script(caller: Caller) -> None:
        seen.append(caller.exchange)

    conversation = in_a_call(carrier, ScriptedBrain(), script)
    assert said(conversation) == [
        "Hello, who is it?",
        "Are you still there?",
        "Hello? Can you hear me?",
        "I will hang up now. Goodbye!",
    ]
    assert seen[0].is_hung_up
    assert [entry.what for entry in seen[0].carrier.log].count("sound") >= 3


@both
def test_keys_are_a_turn(carrier: Carrier) -> None:
    brain = ScriptedBrain(otherwise="Thank you.")

    async def script(caller: Caller) -> None:
        await caller.hear_silence()
        for digit in "4711#":
            caller.exchange.carrier.press(digit)
        await caller.hear_agent(100)
        await caller.hear_silence()
        for digit in "90":
            caller.exchange.carrier.press(digit)
        await caller.hear_agent(100)
        await caller.hear_silence()
        caller.exchange.carrier.hang_up()

    conversation = in_a_call(carrier, brain, script)
    assert [request.text for request in brain.requests] == ["4711", "90"]
    assert [item.text for item in conversation.history if isinstance(item, UserSaid)] == ["4711", "90"]


METER = """
version: 1
slots:
  reading: {type: number, prompt: "What does your meter show?"}
flows:
  report:
    description: report a meter reading
    examples: [report my meter, meter reading]
    steps:
      - collect: reading
    completed: "Thank you, I have noted {reading}."
"""


def test_keys_fill_the_slot_that_is_asked_for() -> None:
    brain = FlowBrain(parse_flows(METER), Registry([]), LocalNlu(words_only=True), opening="Hello.", flow="report")

    async def script(caller: Caller) -> None:
        await caller.hear_agent(100)
        await caller.hear_silence()
        for digit in "4711#":
            caller.exchange.carrier.press(digit)
        await caller.hear_agent(100)
        await caller.hear_silence()
        caller.exchange.carrier.hang_up()

    conversation = in_a_call(TELNYX, brain, script, greeting="")
    assert said(conversation)[-1] == "Thank you, I have noted 4711."


@both
@pytest.mark.req("M-06")
def test_a_carrier_that_never_returns_a_mark_is_a_fault_and_not_for_ever(carrier: Carrier) -> None:
    failed: list[sg.Failed] = []

    async def script(caller: Caller) -> None:
        caller.conversation.on_error(failed.append)

    conversation = in_a_call(carrier, ScriptedBrain(), script, exchange={"returns_marks": False})
    assert failed
    assert said(conversation) == [] or not any(said(conversation)), "nothing is known to have been heard"


@pytest.mark.req("V-01")
def test_the_agent_speaks_while_the_caller_hears_it() -> None:
    """Within a frame, a mark and the way there and back."""

    async def script(caller: Caller) -> None:
        carrier = caller.exchange.carrier
        await caller.hear_silence()
        await caller.say("tell me a story")
        apart_ms = together_ms = 0
        while not (together_ms and caller.conversation.state == "listening"):
            await asyncio.sleep(0.01)
            is_speaking = see(caller.conversation.machine_state) == "agent_speaking"
            apart_ms += 10 if is_speaking is not carrier.is_sounding else 0
            together_ms += 10 if is_speaking and carrier.is_sounding else 0
        assert together_ms > 5_000
        assert apart_ms <= 2 * WIRE_MS + 2 * 20 + 100
        carrier.hang_up()

    in_a_call(TWILIO, ScriptedBrain(otherwise=LONG), script)

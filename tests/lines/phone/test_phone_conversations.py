"""Whole conversations over a phone line: barge-in, dead air, keys."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.core.settings import profile
from duologue.core.views.phone import see
from duologue.ears.scripted import ScriptedEars
from duologue.flows import parse_flows
from duologue.flows.brain import FlowBrain
from duologue.flows.registry import Registry
from duologue.lab.sim.offline_call import WIRE_MS, OfflineCall
from duologue.lines.phone.carriers import CARRIERS, TELNYX, TWILIO, Carrier
from duologue.lines.phone.digits import Digits
from duologue.nlu.local import LocalNlu
from duologue.observe import signals as sg
from duologue.ports.ears import Final, Partial, SpeechBegan, SpeechEnded, TurnOver
from duologue.ports.history import AgentSaid, UserSaid
from duologue.runtime.agent import Agent, Phrases
from duologue.runtime.conversation import Conversation
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated
from duologue.voice.scripted import ScriptedVoice

both = pytest.mark.parametrize("carrier", CARRIERS.values(), ids=lambda carrier: carrier.name)
LONG = "This is a rather long answer that goes on and on, so that there is time enough to say something in between."


class Caller:
    """Somebody on the telephone whom scripted ears understand."""

    def __init__(self, exchange: OfflineCall, ears: ScriptedEars, conversation: Conversation) -> None:
        self.exchange, self.ears, self.conversation = exchange, ears, conversation

    async def say(self, text: str, confidence: float = 0.9) -> None:
        words = text.split()
        self.ears.tell(SpeechBegan())
        for count in range(1, len(words) + 1):
            await asyncio.sleep(0.25)
            self.ears.tell(Partial(" ".join(words[:count]), confidence))
        self.ears.tell(SpeechEnded())
        self.ears.tell(Final(text, confidence))
        await asyncio.sleep(0.1)
        self.ears.tell(TurnOver())

    async def hear_agent(self, ms: int) -> None:
        while self.exchange.carrier.sounding_ms < ms:
            await asyncio.sleep(0.01)

    async def hear_silence(self) -> None:
        while self.conversation.phase != "listening" or self.exchange.carrier.is_sounding:
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
@pytest.mark.req("V-02.interrupts")
@pytest.mark.parametrize("text", ["no Boston", "um no wait Boston", "stop", "okay but when", "I want something else"])
def test_two_words_of_substance_or_a_command_interrupt_the_agent(carrier: Carrier, text: str) -> None:
    brain = ScriptedBrain(otherwise=LONG)

    async def script(caller: Caller) -> None:
        await caller.hear_silence()
        await caller.say("hello there my friend")
        await caller.hear_agent(1_500)
        await caller.say(text)
        assert caller.exchange.carrier.clears == 1
        caller.exchange.carrier.hang_up()

    in_a_call(carrier, brain, script)


@both
@pytest.mark.req("V-02.filters")
@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("Boston", 0.9),
        ("um Boston uh", 0.9),
        ("um uh er", 0.9),
        ("yeah okay right", 0.9),
        ("answer that goes on", 0.9),  # as it is being said
        ("shplork bah doo", 0.2),
        ("stop", 0.2),
    ],
    ids=["one word", "one word and fillers", "fillers", "backchannels", "echo", "garbled", "a doubtful command"],
)
def test_a_single_word_fillers_echo_and_garbled_text_do_not_interrupt(
    carrier: Carrier, text: str, confidence: float
) -> None:
    brain = ScriptedBrain(otherwise=LONG)

    async def script(caller: Caller) -> None:
        await caller.hear_silence()
        await caller.say("hello there my friend")
        await caller.hear_agent(1_500)
        await caller.say(text, confidence)
        await caller.hear_silence()
        assert caller.exchange.carrier.clears == 0
        caller.exchange.carrier.hang_up()

    conversation = in_a_call(carrier, brain, script)
    assert said(conversation)[-1] == LONG, "it was said to its end"
    assert [request.text for request in brain.requests] == ["hello there my friend"]


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
def test_a_carrier_that_never_returns_a_mark_is_a_fault(carrier: Carrier) -> None:
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
        while not (together_ms and caller.conversation.phase == "listening"):
            await asyncio.sleep(0.01)
            is_speaking = see(caller.conversation.machine_state) == "agent_speaking"
            apart_ms += 10 if is_speaking is not carrier.is_sounding else 0
            together_ms += 10 if is_speaking and carrier.is_sounding else 0
        assert together_ms > 5_000
        assert apart_ms <= 2 * WIRE_MS + 2 * 20 + 100
        carrier.hang_up()

    in_a_call(TWILIO, ScriptedBrain(otherwise=LONG), script)

"""Another agent takes the conversation: its instructions, tools and greeting, and what it knows of the history."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from duologue import Agent, Context, Phrases, Request, ToolCall, hand_over_to, hang_up
from duologue.core.settings import PROFILES
from duologue.ears.scripted import ScriptedEars
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.phrases.texts import texts_in
from duologue.ports.context import HandOverRefused
from duologue.ports.ears import Final, Frame, Partial, SpeechBegan, SpeechEnded
from duologue.ports.history import AgentSaid, Note, UserSaid
from duologue.ports.sound import Sound
from duologue.runtime.agent import InvalidAgent
from duologue.testing import Call
from tests.runtime.runtime_fakes import Stage, play


def answers(name: str, seen: list[Request] | None = None) -> Any:
    async def brain(request: Request) -> AsyncIterator[Any]:
        if seen is not None:
            seen.append(request)
        if request.text or request.ask.value != "answer":
            yield f"{name} answers {request.text}."
        else:
            yield f"{name} here."

    return brain


def desk(*agents: Agent, **more: Any) -> Agent:
    return Agent(answers("Desk"), name="desk", agents=agents, **more)


def billing(**more: Any) -> Agent:
    return Agent(answers("Billing"), name="billing", **more)


def hands_over(call: Call, to: Any, **how: Any) -> Call:
    call.run(call.context.hand_over(to, **how))
    return call


def test_the_other_agent_greets_and_answers_from_then_on() -> None:
    with Call(desk(billing(phrases=Phrases(greeting="Billing, hello.")))) as call:
        call.user("good morning").expect_heard("Desk answers good morning.")
        hands_over(call, "billing").expect_heard("Billing, hello.")
        call.user("my bill is wrong").expect_heard("Billing answers my bill is wrong.").expect_nothing_lost()
        assert call.context.agent == "billing"
        assert [one.name for one in call.signals if isinstance(one, sg.AgentChanged)] == ["billing"]
        said = [item for item in call.conversation.history if isinstance(item, AgentSaid)]
        assert [item.speaker for item in said] == ["", "billing", "billing"]


def test_an_agent_without_a_greeting_is_asked_to_speak() -> None:
    with Call(desk(billing())) as call:
        call.user("good morning").settles()
        hands_over(call, billing()).expect_heard("Billing here.")


def test_a_brain_hands_over_with_a_tool_and_the_question_is_not_answered_twice() -> None:
    async def brain(request: Request) -> AsyncIterator[Any]:
        if request.text:
            yield "I put you through. "
            yield ToolCall("hand_over", {"to": "billing"})

    second = billing(phrases=Phrases(greeting="Billing, hello."))
    with Call(Agent(brain, name="desk", agents=(second,), tools=[hand_over_to(second)])) as call:
        call.user("my bill is wrong").settles()
        assert call.heard == ["I put you through.", "Billing, hello."]
        call.expect_called("hand_over", to="billing").expect_nothing_lost()


def test_words_at_the_seam_are_answered_once_by_the_new_agent() -> None:
    async def thinks(request: Request) -> AsyncIterator[str]:
        await asyncio.sleep(5)
        yield f"Desk answers {request.text}."

    second = billing(phrases=Phrases(greeting="Billing, hello."))
    with Call(Agent(thinks, name="desk", agents=(second,))) as call:
        call.says("why is it so much")  # complete: the first agent was asked, and nothing of it was heard
        hands_over(call, "billing").settles()
        heard = " ".join(call.heard)
        assert heard.count("why is it so much") == 1
        assert "Billing, hello. Billing answers why is it so much." in heard
        call.expect_nothing_lost()


def told_outputs(request: Request) -> AsyncIterator[str]:
    async def brain() -> AsyncIterator[str]:
        yield f"It is {request.outputs[-1].output}." if request.outputs else f"Billing answers {request.text}."

    return brain()


@pytest.mark.parametrize("history", ["whole", "summary", "none"])
@pytest.mark.parametrize("greeting", ["Billing, hello.", ""])
def test_what_a_tool_of_the_first_agent_finds_after_the_hand_over_is_said(history: Any, greeting: str) -> None:
    async def price() -> str:
        """Find the price."""
        await asyncio.sleep(4)
        return "forty euros"

    async def asks(request: Request) -> AsyncIterator[Any]:
        yield "One moment. "
        yield ToolCall("price", {})

    second = Agent(told_outputs, name="billing", phrases=Phrases(greeting=greeting))
    with Call(Agent(asks, name="desk", agents=(second,), tools=[price])) as call:
        call.user("how much is it").waits(1_500)
        hands_over(call, "billing", history=history).waits(6_000).settles()
        assert " ".join(call.heard) == f"One moment. {greeting} It is forty euros.".replace("  ", " ")
        call.user("thank you").expect_heard("Billing answers thank you.").expect_nothing_lost()


def test_a_hand_over_by_a_tool_beside_another_tool_is_greeted_once_and_the_other_result_is_said() -> None:
    async def price() -> str:
        """Find the price."""
        return "forty euros"

    async def pass_on(context: Context[Any]) -> str:
        """Pass on."""
        await context.hand_over("billing")
        return "passed on"

    async def asks(request: Request) -> AsyncIterator[Any]:
        for name in request.text.split():
            yield ToolCall(name, {})

    second = Agent(told_outputs, name="billing", phrases=Phrases(greeting="Billing, hello."))
    agent = Agent(asks, name="desk", agents=(second,), tools=[price, pass_on])
    with Call(agent) as call:
        call.user("pass_on").settles()
        assert call.heard == ["Billing, hello."]  # its own result is no reason to ask the brain
    with Call(agent) as call:
        call.user("pass_on price").settles()
        assert call.heard == ["Billing, hello. It is forty euros."]
        call.expect_nothing_lost()


def test_a_model_that_hands_over_twice_in_one_answer_is_greeted_once() -> None:
    second = Agent(told_outputs, name="billing", phrases=Phrases(greeting="Billing, hello."))

    async def twice(request: Request) -> AsyncIterator[Any]:
        for _ in range(2):
            yield ToolCall("hand_over", {"to": "billing"})

    with Call(Agent(twice, name="desk", agents=(second,), tools=[hand_over_to(second)])) as call:
        call.user("my bill is wrong").settles()
        assert call.heard == ["Billing, hello."]


def test_a_hand_over_in_the_middle_of_an_interruption_loses_nothing() -> None:
    long = Agent(lambda request: "One two three four five six seven eight nine ten.", name="desk", agents=(billing(),))
    with Call(long) as call:
        call.user("tell me something").hears_agent(900)
        call.begins_speaking().partial_text("no stop it please")
        hands_over(call, "billing")
        call.final_text("no stop it please").stops_speaking().settles()
        assert " ".join(call.heard).count("Billing answers no stop it please") == 1
        call.expect_nothing_lost()


def test_the_tools_of_the_other_agent_replace_those_of_the_first() -> None:
    seen: list[Request] = []

    async def refund() -> str:
        """Give the money back."""
        return "done"

    async def greet() -> str:
        """Greet."""
        return "hello"

    second = Agent(answers("Billing", seen), name="billing", tools=[refund], instructions="You do billing.")
    with Call(desk(second, tools=[greet])) as call:
        call.user("good morning").settles()
        hands_over(call, "billing").settles()
        assert [tool.name for tool in seen[0].tools] == ["refund"]
        assert seen[0].instructions == "You do billing."


@pytest.mark.parametrize(("history", "knows"), [("whole", True), ("none", False)])
def test_the_history_goes_along_whole_or_not_at_all(history: Any, knows: bool) -> None:
    seen: list[Request] = []
    with Call(desk(Agent(answers("Billing", seen), name="billing"))) as call:
        call.user("my number is seven").settles()
        hands_over(call, "billing", history=history).settles()
        call.user("and now you").settles()
        said = [item.text for item in seen[-1].history if isinstance(item, UserSaid)]
        assert ("my number is seven" in said) is knows
        assert "and now you" in said


def test_a_summary_stands_for_the_history() -> None:
    seen: list[Request] = []
    with Call(desk(Agent(answers("Billing", seen), name="billing"))) as call:
        call.user("my number is seven").settles()
        hands_over(call, "billing", history="summary").settles()
        notes = [item.text for item in seen[0].history if isinstance(item, Note)]
        assert len(notes) == 1
        assert "seven" in notes[0]


class Summarising:
    """A brain that answers, and needs some seconds to summarise."""

    def __init__(self, needs_s: float) -> None:
        self.needs_s = needs_s

    async def reply(self, request: Request) -> AsyncIterator[str]:
        yield f"Desk answers {request.text}."

    async def summarise(self, text: str, chars_max: int) -> str:
        await asyncio.sleep(self.needs_s)
        return f"In short: {'seven' if 'seven' in text else 'nothing'}."


@pytest.mark.parametrize(("needs_s", "knows"), [(1.0, "In short: seven."), (4.0, "In short: seven."), (60.0, "seven")])
def test_the_brain_writes_the_summary_and_what_is_said_meanwhile_is_known_too(needs_s: float, knows: str) -> None:
    seen: list[Request] = []
    other = Agent(answers("Billing", seen), name="billing")
    with Call(Agent(Summarising(needs_s), name="desk", agents=(other,))) as call:
        call.user("my number is seven").settles()

        async def begin() -> asyncio.Future[None]:
            return asyncio.ensure_future(call.context.hand_over("billing", history="summary"))

        handing = call.run(begin())
        call.user("my name is Ada")
        call.until(handing.done).settles()
        call.user("who am I").settles()
        (note,) = [item.text for item in seen[-1].history if isinstance(item, Note)]
        assert knows in note
        told = note + str([item.text for item in seen[-1].history if isinstance(item, UserSaid)])
        assert "my name is Ada" in told
        assert " ".join(call.heard).count("answers my name is Ada") == 1
        call.expect_nothing_lost()


def test_a_hand_over_to_oneself_and_to_an_unknown_agent_are_refused() -> None:
    with Call(desk(billing())) as call:
        call.user("good morning").settles()
        with pytest.raises(HandOverRefused, match="already"):
            hands_over(call, "desk")
        with pytest.raises(HandOverRefused, match=r"'sales'.*known: 'desk', 'billing'"):
            hands_over(call, "sales")


def test_a_second_hand_over_to_an_agent_that_is_about_to_take_over_is_refused() -> None:
    async def twice(context: Context[Any]) -> None:
        first = asyncio.create_task(context.hand_over("billing"))
        await asyncio.sleep(0)
        with pytest.raises(HandOverRefused, match="about to take it over"):
            await context.hand_over("billing")
        await first

    with Call(desk(billing(phrases=Phrases(greeting="Billing, hello.")))) as call:
        call.user("tell me a story").waits(500)
        call.run(twice(call.context))
        call.settles()
        assert call.heard.count("Billing, hello.") == 1


def test_a_ring_of_hand_overs_ends_and_the_person_can_go_on() -> None:
    async def passes(request: Request, context: Context[Any]) -> AsyncIterator[Any]:
        if request.outputs and "in a row" in request.outputs[-1].output:
            yield "We stay here."
        else:
            yield ToolCall("hand_over", {"to": "billing" if context.agent == "desk" else "desk"})

    def agent(name: str, to: str, **more: Any) -> Agent:
        return Agent(passes, name=name, tools=[hand_over_to(to)], tool_rounds_max=50, **more)

    with Call(agent("desk", "billing", agents=(agent("billing", "desk"),))) as call:
        call.user("help me").expect_heard("We stay here.").expect_nothing_lost()


def test_an_agent_that_a_tool_hands_over_to_needs_no_second_mention() -> None:
    async def brain(request: Request) -> AsyncIterator[Any]:
        if request.text:
            yield ToolCall("hand_over", {"to": "billing"})

    second = billing(phrases=Phrases(greeting="Billing, hello."))
    desk = Agent(brain, name="desk", tools=[hand_over_to(second), hang_up])
    assert desk.agents == (second,)
    assert replace(desk, instructions="Be brief.").agents == (second,)
    with Call(desk) as call:
        call.user("my bill is wrong").expect_heard("Billing, hello.")


def test_what_is_no_agent_is_refused_with_an_example() -> None:
    for agents in ({"billing": billing()}, [answers("x")], billing):
        with pytest.raises(InvalidAgent, match=r"agents must be agents with names, as in agents=\(Agent\(…, name="):
            Agent(answers("Desk"), agents=agents)  # type: ignore[arg-type]
    assert Agent(answers("Desk"), agents=billing()).agents[0].name == "billing"  # type: ignore[arg-type]


def test_two_agents_of_one_name_are_refused_when_the_agent_is_made() -> None:
    with pytest.raises(InvalidAgent, match="two agents have the name 'billing'"):
        desk(billing(), billing())
    with pytest.raises(InvalidAgent, match=r"each of the agents needs a name.*Agent\(…, name=\"billing\"\)"):
        desk(replace(billing(), name=""))


# -- Voice and ears


class Pitch:
    """A voice whose samples all have one value, so that a test knows by the sound who speaks."""

    def __init__(self, value: int) -> None:
        self.value = value

    async def speak(self, text: str) -> AsyncIterator[Sound]:
        yield Sound(60 * len(text), array("h", [self.value] * 16 * 60 * len(text)).tobytes(), 16_000)


class Tape(ScriptedLine):
    """A line that keeps the values of the samples that it plays, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.values: list[int] = []

    def play(self, voice: int, chunk: int, sound: Sound) -> None:
        self.values += [value for value in dict.fromkeys(array("h", sound.pcm)) if value not in self.values[-1:]]
        super().play(voice, chunk, sound)


def test_the_other_agent_speaks_with_its_own_voice_and_hears_with_its_own_ears() -> None:
    tape, first, second = Tape(), ScriptedEars(), ScriptedEars()
    other = billing(voice=Pitch(2), ears=second, phrases=Phrases(greeting="Billing, hello."))

    async def scene(stage: Stage) -> None:
        await stage.say("good morning")
        await stage.rest()
        assert tape.values == [1]
        await stage.conversation.call_context.hand_over("billing")
        await stage.rest()
        assert (stage.heard[-1], tape.values) == ("Billing, hello.", [1, 2])
        stage.line.tell(Frame(bytes(320), 16_000))
        for ears, text in ((first, "the old ears hear this"), (second, "my bill is wrong")):
            for one in (SpeechBegan(9), Partial(text, 0.9, 9), SpeechEnded(9), Final(text, 0.9, 9)):
                ears.tell(one)
            await stage.sleep(3_000)
        await stage.rest()
        assert stage.said == ["good morning", "my bill is wrong"]
        assert stage.heard[-1] == "Billing answers my bill is wrong."
        assert (first.frames, second.frames, second.starts) == (0, 1, 1)
        assert tape.values == [1, 2]

    stage = play(scene, answers("Desk"), line=tape, ears=first, voice=Pitch(1), name="desk", agents=(other,))
    assert stage.problems == []
    assert stage.lost == []


def test_the_program_changes_tools_and_voice_from_the_next_answer_on() -> None:
    tape, seen = Tape(), list[Request]()

    async def refund() -> str:
        """Give the money back."""
        return "done"

    async def scene(stage: Stage) -> None:
        await stage.say("good morning")
        await stage.rest()
        stage.conversation.call_context.update(tools=[refund], voice=Pitch(2), instructions="Refund what they want.")
        await stage.say("my money please")
        await stage.rest()
        assert [[tool.name for tool in request.tools] for request in seen] == [[], ["refund"]]
        assert [request.instructions for request in seen] == ["", "Refund what they want."]
        assert tape.values == [1, 2]

    stage = play(scene, answers("Desk", seen), line=tape, voice=Pitch(1))
    assert (stage.problems, stage.lost) == ([], [])


def test_ears_change_back_with_the_first_agent_and_an_agent_without_ears_uses_those_of_the_first() -> None:
    first, second = ScriptedEars(), ScriptedEars()
    agents = (billing(ears=second), Agent(answers("Sales"), name="sales"))

    async def scene(stage: Stage) -> None:
        for name, ears in (("billing", second), ("sales", first), ("billing", second), ("desk", first)):
            await stage.conversation.call_context.hand_over(name)
            await stage.rest()
            before = ears.frames
            stage.line.tell(Frame(bytes(320), 16_000))
            await stage.rest()
            assert ears.frames == before + 1, name
            await stage.say("so I am here", 50) if ears is first else None

    play(scene, answers("Desk"), ears=first, name="desk", agents=agents)


def test_what_the_ears_use_is_counted_for_the_ears_that_listen() -> None:
    class OtherEars(ScriptedEars):
        pass

    async def scene(stage: Stage) -> None:
        stage.line.tell(Frame(bytes(320), 16_000))
        await stage.conversation.call_context.hand_over("billing")
        await stage.rest()
        stage.line.tell(Frame(bytes(640), 16_000))

    stage = play(scene, answers("Desk"), name="desk", agents=(billing(ears=OtherEars()),))
    used = [(one.provider, one.heard_ms) for one in stage.told(sg.Used) if one.part == "stt"]
    assert used == [("ScriptedEars", 10), ("OtherEars", 20)]


def test_the_limit_of_tool_rounds_is_that_of_the_agent_that_has_the_conversation() -> None:
    seen: list[int] = []

    async def restless(request: Request) -> AsyncIterator[Any]:
        seen.append(len(request.tools))
        if request.text or request.outputs:
            yield ToolCall("look", {}) if request.tools else "That is all."

    async def look() -> str:
        """Look."""
        return "nothing"

    with Call(desk(Agent(restless, name="billing", tools=[look], tool_rounds_max=2))) as call:
        hands_over(call, "billing").settles()
        seen.clear()
        call.user("look").expect_heard("That is all.")
        assert seen == [1, 1, 0]


# -- Data and spoken forms


@dataclass
class Order:
    items: int = 0


@dataclass
class Ticket:
    number: str = ""


def test_agents_share_the_data_of_the_first_and_one_with_other_data_is_refused() -> None:
    assert desk(billing(data=Order), data=Order).agents[0].data is Order
    for first in (None, Ticket):
        with pytest.raises(InvalidAgent, match="'billing' has the data Order, but the first agent makes"):
            desk(billing(data=Order), data=first)
        with pytest.raises(InvalidAgent, match="'billing' has the data Order"):
            desk(Agent(answers("Sales"), name="sales", agents=(billing(data=Order),)), data=first)


def test_the_other_agent_says_words_in_its_own_way() -> None:
    told: list[str] = []

    class Noting(Pitch):
        async def speak(self, text: str) -> AsyncIterator[Sound]:
            told.append(text)
            async for sound in super().speak(text):
                yield sound

    second = billing(phrases=Phrases(greeting="I am Nguyen, it costs $5."), pronunciations={"Nguyen": "win"})
    first = Agent(lambda request: "Ask Nguyen, it costs $5.", name="desk", agents=(second,), voice=Noting(1))
    with Call(replace(first, spoken_forms=False), own_voice=True) as call:
        call.user("good morning").settles()
        hands_over(call, "billing").expect_heard("I am Nguyen, it costs $5.")
    assert told == ["Ask Nguyen, it costs $5.", "I am win, it costs five dollars."]


# -- Private


@pytest.mark.parametrize("first", [True, False])
def test_agents_that_hand_over_to_each_other_must_agree_on_private(first: bool) -> None:
    with pytest.raises(InvalidAgent, match=rf"private is {not first} for the agent 'billing', but {first} for 'desk'"):
        desk(billing(private=not first), private=first)
    inner = billing(private=not first, agents=(Agent(answers("Sales"), name="sales", private=not first),))
    with pytest.raises(InvalidAgent, match="must all be private, or all not"):
        desk(inner, private=first)
    with pytest.raises(InvalidAgent, match="must all be private, or all not"):
        replace(desk(billing(private=first), private=first), private=not first)
    assert desk(billing(private=first), private=first).private is first


def test_no_hand_over_brings_an_agent_with_another_private_into_a_call(tmp_path: Path) -> None:
    with Call(desk(billing(private=True), private=True), journal=tmp_path / "call.jsonl") as call:
        with pytest.raises(HandOverRefused, match="no agent 'sales'"):
            hands_over(call, Agent(answers("Sales"), name="sales", private=False))
        hands_over(call, Agent(answers("Stranger"), name="billing", private=False)).settles()
        call.user("my secret is blue").expect_heard("Billing answers my secret is blue.")  # not the stranger
        assert call.conversation.agent.private
    assert "blue" not in "".join(path.read_text() for path in tmp_path.iterdir())


def test_after_a_hand_over_between_private_agents_nothing_is_recorded(tmp_path: Path) -> None:
    with Call(desk(billing(private=True), private=True), journal=tmp_path / "call.jsonl") as call:
        call.user("good morning").settles()
        hands_over(call, "billing").settles()
        assert not call.conversation.engine.sound_recording.start(tmp_path / "call.wav")
        call.user("my bill is wrong").expect_heard("Billing answers my bill is wrong.")
    assert [path.name for path in tmp_path.iterdir()] == ["call.jsonl"]  # no words, no ear journal, no sound


# -- Languages


class EnglishEars(ScriptedEars):
    languages = ("en",)


def test_an_agent_whose_language_the_ears_of_the_first_do_not_hear_is_refused_when_the_agent_is_made() -> None:
    german = billing(language="de")
    with pytest.raises(InvalidAgent, match="the agent 'billing': language is 'de', but EnglishEars hears only en"):
        desk(german, ears=EnglishEars())
    with pytest.raises(InvalidAgent, match="the agent 'billing': language is 'de'"):
        desk(Agent(answers("Sales"), name="sales", agents=(german,)), ears=EnglishEars())
    assert desk(replace(german, ears=ScriptedEars()), ears=EnglishEars()).agents[0].language == "de"


def test_a_language_that_the_ears_do_not_hear_is_refused_by_update_and_the_call_goes_on() -> None:
    async def scene(stage: Stage) -> None:
        context = stage.conversation.call_context
        await context.hand_over("billing")
        with pytest.raises(InvalidAgent, match="EnglishEars hears only en"):
            context.update(language="de")
        await stage.rest()
        await stage.say("my bill is wrong")
        await stage.rest()
        assert stage.heard[-1] == "Billing answers my bill is wrong."

    stage = play(scene, answers("Desk"), ears=EnglishEars(), name="desk", agents=(billing(),))
    assert stage.problems == []


def test_another_language_changes_the_phrases_of_a_conversation_that_goes_on() -> None:
    settings = replace(PROFILES["words"], greets=False, dead_air_ms=2_000, check_ins_max=2)
    with Call(Agent(answers("Desk"), profile=settings)) as call:
        call.user("hello").settles()
        call.waits(4_500)
        call.context.update(language="de")
        assert call.context.language == "de"
        call.waits(60_000)
    english, german = texts_in("en").spoken, texts_in("de").spoken
    assert call.heard[1:] == [english["check_in"][0], german["check_in"][1], german["goodbye"][0]]

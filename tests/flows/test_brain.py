"""Flows by voice: the same file as a brain in a voice conversation, on the simulated clock."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from duologue import Agent
from duologue.core.settings import profile
from duologue.dialogue.state import Phase
from duologue.flows import load_flows, parse_flows
from duologue.flows.brain import FlowBrain
from duologue.flows.dialogue_session import RecentCheckpoints
from duologue.flows.find_functions import find_functions
from duologue.flows.registry import Registry
from duologue.nlu.local import LocalNlu
from duologue.ports.brain import OpenQuestion, Request
from duologue.ports.history import AgentSaid, UserSaid
from duologue.ports.store import StoreFailed
from duologue.runtime.agent import Phrases
from duologue.runtime.simulated_clock import run_simulated
from duologue.testing import Call
from duologue.turns.completeness import Completeness

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
NLU = LocalNlu(words_only=True)


def flights(**more: Any) -> FlowBrain:
    file = EXAMPLES / "flights.yaml"
    return FlowBrain(load_flows(file), find_functions(file, None), NLU, today=lambda: "2025-12-02", **more)


def test_the_first_example_of_each_task_is_what_one_could_say() -> None:
    brain = flights()
    assert brain.suggestions
    assert Agent(brain).suggested == brain.suggestions
    assert Agent(brain, suggestions=("Fly me to the moon",)).suggested == ("Fly me to the moon",)


@pytest.mark.req("D-16")
def test_a_flight_is_booked_by_voice() -> None:
    with Call(Agent(flights())) as call:
        call.user("I want to book a flight").expect_heard("Where would you like to fly from?")
        call.user("New York").expect_heard("Where would you like to fly to?")
        call.user("Los Angeles").expect_heard("When would you like to depart?")
        call.user("next Friday").expect_heard("Your flight is booked! Booking reference: BK-98765")


@pytest.mark.req("H-16")
def test_an_early_request_answers_from_a_copy_and_steps_once_the_turn_is_over() -> None:
    async def run() -> None:
        brain, certain = flights(), asyncio.Event()
        said = (UserSaid(1, "book a flight"),)
        request = Request(1, "book a flight", said, conversation="one", confirmed=certain.wait)
        parts = brain.reply(request)
        assert isinstance(await anext(parts), OpenQuestion)
        talk = brain.talk_of("one")
        assert talk is not None
        assert talk.state.turn_count == 0
        certain.set()
        assert [part async for part in parts] == []
        assert talk.state.turn_count == 1

    asyncio.run(run())


@pytest.mark.req("H-16")
def test_an_early_request_that_is_dropped_leaves_the_dialogue_as_it_was() -> None:
    async def run() -> None:
        brain, never = flights(), asyncio.Event()
        early = Request(1, "book a", (UserSaid(1, "book a"),), conversation="one", confirmed=never.wait)
        parts = brain.reply(early)
        await anext(parts)
        await parts.aclose()  # type: ignore[attr-defined]
        whole = Request(2, "book a flight", (UserSaid(1, "book a flight"),), conversation="one")
        assert len([part async for part in brain.reply(whole)]) == 1
        talk = brain.talk_of("one")
        assert talk is not None
        assert talk.state.turn_count == 1

    asyncio.run(run())


@pytest.mark.req("H-05")
def test_a_goodbye_is_answered_and_hangs_up() -> None:
    with Call(Agent(flights())) as call:
        call.user("no thank you, goodbye").until(lambda: call.conversation.phase == "idle").expect_ended()
        assert call.heard == ["Goodbye!"]
        call.expect_nothing_lost()


@pytest.mark.req("H-05")
def test_words_after_a_goodbye_keep_the_call_and_its_task() -> None:
    with Call(Agent(flights())) as call:
        call.user("I want to book a flight").settles()
        call.user("goodbye").interrupts("wait, from New York please", after_ms=100)
        call.settles()
        call.expect_phase("listening")
        assert "fly to" in call.heard[-1]


@pytest.mark.req("D-07", "D-16")
def test_a_correction_is_taken_by_voice() -> None:
    with Call(Agent(flights())) as call:
        call.user("I want to book a flight").settles()
        call.user("New York").settles()
        call.user("Actually, change the origin to Boston").settles()
        assert call.heard[-1].endswith("Got it, I've updated your origin to Boston. Where would you like to fly to?")


def answers(brain: FlowBrain, *turns: UserSaid) -> list[str]:
    """What the brain answers to each of these turns."""

    async def one(number: int) -> str:
        request = Request(number, turns[number - 1].text, turns[:number], conversation="c")
        parts = [part async for part in brain.reply(request)]
        return "".join(part.text if isinstance(part, OpenQuestion) else str(part) for part in parts).strip()

    async def all_of_them() -> list[str]:
        return [await one(number) for number in range(1, len(turns) + 1)]

    return run_simulated(all_of_them())


@pytest.mark.req("H-14")
def test_the_confidence_of_a_turn_reaches_the_dialogue() -> None:
    said = answers(
        flights(),
        UserSaid(1, "I want to book a flight"),
        UserSaid(2, "Boston", confidence=0.17),
        UserSaid(3, "Cancel.", confidence=0.2),
        UserSaid(4, "Cancel.", confidence=0.9),
    )
    assert said == [
        "Where would you like to fly from?",
        "So far I have origin Boston. Where would you like to fly to?",
        "Sorry, I'm not sure I heard you right. Where would you like to fly to?",
        "All right, let's leave it.",
    ]


SLOW = """
version: 1
slots:
  city: {type: name, prompt: "Which city?"}
flows:
  book:
    description: book a trip
    examples: [book a trip, I want to travel, plan my trip]
    steps:
      - collect: city
      - action: pay
        slots: [city]
        outputs: [reference]
        waiting: One moment please, I am paying for it now.
    completed: "It is booked. The reference is {reference}."
"""


def slow(paid: list[str], **more: Any) -> FlowBrain:
    async def pay(city: str, key: str) -> dict[str, str]:
        await asyncio.sleep(3)
        paid.append(key)
        return {"reference": city.upper()}

    return FlowBrain(parse_flows(SLOW), Registry([pay]), NLU, today=lambda: "2026-03-04", **more)


@pytest.mark.graveyard(19)
@pytest.mark.req("D-14")
def test_an_action_that_the_user_talks_over_runs_once_and_its_result_is_said() -> None:
    """A barge-in while an action runs stops the voice and nothing else."""
    paid: list[str] = []
    with Call(Agent(slow(paid))) as call:
        call.user("book a trip").settles()
        call.user("Lisbon").interrupts("wait a second please", after_ms=900)
        call.waits(6_000)
        call.settles()
        assert len(paid) == 1
        assert any("The reference is LISBON" in said for said in call.heard)


def test_every_conversation_has_its_own_dialogue() -> None:
    brain = flights()
    with Call(Agent(brain)) as one:
        one.user("I want to book a flight").user("New York").settles()
    with Call(Agent(brain)) as other:
        other.user("I want to book a flight").expect_heard("Where would you like to fly from?")
        other.user("Boston").settles()
        talk = brain.talk_of(other.conversation.id)
        assert talk is not None
        assert talk.state.slots == {"origin": "Boston"}


@pytest.mark.graveyard(16)
@pytest.mark.req("M-15", "D-07")
@pytest.mark.parametrize(
    "text",
    [
        "i want to book a flight from Boston",
        "I want to book a flight. From Boston.",
        "I want a book, a flight from Boston.",
    ],
)
def test_a_turn_that_continues_and_is_rewritten_loses_no_word(text: str) -> None:
    """Ears mend what they wrote while more is said: capitals and full stops come with the final text."""
    brain = flights()

    async def ask(reply: int, text: str) -> None:
        async for _ in brain.reply(Request(reply, text, history=(UserSaid(1, text),), conversation="one")):
            pass

    async def scene() -> None:
        await ask(1, "i want to book a flight")
        await ask(2, text)
        talk = brain.talk_of("one")
        assert talk is not None
        assert talk.state.slots == {"origin": "Boston"}

    run_simulated(scene())


def test_a_silence_uses_the_slots_own_prompt() -> None:
    with Call(Agent(flights(), profile=profile("confirm", dead_air_ms=20_000), phrases=Phrases(check_ins=()))) as call:
        call.user("I want to book a flight").settles()
        call.waits(25_000)
        call.settles()
        assert "From which city would you like to fly?" in call.heard[-1]


def test_what_must_not_be_interrupted_is_said_to_its_end() -> None:
    file = EXAMPLES / "transfer.yaml"
    brain = FlowBrain(load_flows(file), find_functions(file, None), NLU, today=lambda: "2026-03-04")
    with Call(Agent(brain)) as call:
        call.user("I want to send money").settles()
        call.user("Ada").settles()
        call.user("twenty euros").interrupts("hold on a moment", after_ms=700)
        call.settles()
        assert any("Send" in said and said.rstrip().endswith("?") for said in call.heard)


@pytest.mark.req("D-14")
def test_a_conversation_continues_from_its_checkpoint_in_another_process() -> None:
    store = RecentCheckpoints()
    with Call(Agent(flights(store=store))) as call:
        call.user("I want to book a flight").user("New York").settles()
        name = call.conversation.id
    brain = flights(store=store)

    assert not asyncio.run(brain.has_more(name)), "nothing is left to say, but the dialogue is loaded"
    talk = brain.talk_of(name)
    assert talk is not None
    assert talk.state.phase is Phase.WAITING_FOR_SLOT
    assert talk.state.slots == {"origin": "New York"}
    assert "flights" in sys.modules


LENGTHY = """
version: 1
slots:
  city: {type: name, prompt: "Where to?"}
flows:
  book:
    description: book
    examples: [book something]
    steps:
      - collect: city
      - action: slow
        outputs: [reference]
        waiting: One moment.
    completed: "Done, {reference}."
"""


@pytest.mark.parametrize("waiting", ["waiting: One moment.", ""])
def test_an_action_may_take_longer_than_a_silence_that_would_be_a_stall(waiting: str) -> None:
    async def slow(city: str) -> dict[str, str]:
        await asyncio.sleep(12)
        return {"reference": city}

    domain = parse_flows(LENGTHY.replace("waiting: One moment.", waiting))
    with Call(Agent(FlowBrain(domain, Registry([slow]), LocalNlu(words_only=True)))) as call:
        call.user("book something").settles()
        call.user("Paris").settles()
        call.expect_heard("Done, Paris.")
        assert call.conversation.metrics.errors == 0
        assert call.conversation.metrics.requests == 2


class Notebook:
    """A brain's memory that can be made to fail, and holds what another process wrote."""

    def __init__(self) -> None:
        self.saved: dict[str, Any] = {}
        self.failures = 0
        self.reasons: list[tuple[str, ...]] = []

    async def load(self, conversation: str) -> dict[str, Any] | None:
        return self.saved.get(conversation)

    async def save(self, conversation: str, data: dict[str, Any], reasons: tuple[str, ...]) -> None:
        if "before_action" in reasons and self.failures:
            self.failures -= 1
            raise StoreFailed("away")
        self.reasons.append(reasons)
        self.saved[conversation] = data

    async def once(self, conversation: str, key: str, name: str, work: Any, repeatable: bool) -> Any:
        return await work()


@pytest.mark.req("D-13", "D-14")
def test_an_action_runs_only_after_its_checkpoint_was_saved() -> None:
    paid: list[str] = []
    brain, memory = slow(paid), Notebook()
    brain.remember(memory)
    memory.failures = 2
    with Call(Agent(brain)) as call:
        call.user("book a trip").settles()
        call.user("Paris").expect_heard("It is booked.")
    assert len(paid) == 1
    assert any("before_action" in reasons for reasons in memory.reasons)


@pytest.mark.req("D-14")
def test_a_dialogue_that_continued_elsewhere_is_reloaded() -> None:
    async def scene() -> None:
        memory = Notebook()
        here, there = slow([]), slow([])
        here.remember(memory)
        there.remember(memory)
        said = UserSaid(1, "book a trip")
        [part async for part in here.reply(Request(1, "book a trip", history=(said,), conversation="c"))]
        before = memory.saved["c"]
        more = (said, UserSaid(2, "Paris"))
        [part async for part in there.reply(Request(2, "Paris", history=more, conversation="c"))]
        assert memory.saved["c"] != before
        assert not await here.has_more("c")  # asked when it goes on here
        talk = here.talk_of("c")
        assert talk is not None
        assert talk.state.top is None, "the trip is booked"

    run_simulated(scene())


def test_the_result_of_a_function_is_ignored_after_the_dialogue_moved_away() -> None:
    async def scene() -> None:
        memory, paid = Notebook(), []
        brain = slow(paid)
        brain.remember(memory)
        history = (UserSaid(1, "book a trip"), UserSaid(2, "Paris"))
        [part async for part in brain.reply(Request(1, "book a trip", history=history[:1], conversation="c"))]
        stream = brain.reply(Request(2, "Paris", history=history, conversation="c"))
        await anext(stream)
        kept = memory.saved["c"]
        await asyncio.sleep(0.1)
        brain.forget("c")
        await asyncio.sleep(10)
        assert memory.saved["c"] == kept, "another process goes on with this"

    run_simulated(scene())


def test_a_process_that_runs_for_a_year_remembers_a_bounded_number_of_dialogues(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("duologue.flows.dialogue_session.CHECKPOINTS_MAX", 3)
    store = RecentCheckpoints()

    async def scene() -> None:
        for name in ("one", "two", "three", "one", "four"):
            await store.save(name, {"name": name}, ())
        assert list(store.saved) == ["three", "one", "four"]

    run_simulated(scene())


# -- Words that were processed, and questions that were heard


@pytest.mark.req("D-13", "H-15")
@pytest.mark.parametrize("saved", ["I want to go to New York", 7])
def test_only_the_number_of_processed_words_is_saved_and_earlier_checkpoints_are_read(saved: str | int) -> None:
    async def scene() -> None:
        store = RecentCheckpoints()
        heard = UserSaid(1, "I want to go to New York")
        first = flights(store=store)
        async for _ in first.reply(Request(1, heard.text, (heard,), conversation="call")):
            pass
        kept = store.saved["call"]
        assert kept["given"] == {"1": 7}
        store.saved["call"] = {**kept, "given": {"1": saved}}
        again = flights(store=store)
        longer = UserSaid(1, "I want to go to Newark city tomorrow")
        parts = [part async for part in again.reply(Request(2, longer.text, (longer,), conversation="call"))]
        assert parts, "it says something"
        talk = again.talk_of("call")
        assert talk is not None
        assert [message.content for message in talk.state.messages if message.role == "user"][-1] == "tomorrow"

    run_simulated(scene())


CONFIRMED = """
version: 1
slots:
  city: {type: name, prompt: "Which city?"}
flows:
  book:
    description: book a trip
    examples: [book a trip, I want to travel, plan my trip]
    steps:
      - collect: city
      - confirm: "Shall I book the trip to {city}?"
      - action: pay
        slots: [city]
        outputs: [reference]
    completed: "It is booked. The reference is {reference}."
"""


@pytest.mark.req("H-06.unheard", "H-14")
@pytest.mark.parametrize(("premature", "books"), [(True, False), (False, True)])
def test_a_yes_that_began_before_the_question_was_heard_is_asked_again(premature: bool, books: bool) -> None:
    paid: list[str] = []

    async def pay(city: str) -> dict[str, str]:
        paid.append(city)
        return {"reference": city.upper()}

    async def scene() -> None:
        brain = FlowBrain(parse_flows(CONFIRMED), Registry([pay]), NLU, today=lambda: "2026-03-04")
        said: list[UserSaid] = []
        parts: list[Any] = []
        for turn, text in enumerate(("I want to travel", "Paris", "yes"), 1):
            said.append(UserSaid(turn, text))
            request = Request(turn, text, tuple(said), conversation="call", premature=premature and text == "yes")
            parts = [part async for part in brain.reply(request)]
            if text == "Paris":
                assert parts[-1] == OpenQuestion("Shall I book the trip to Paris? ", ("Paris",))
        assert paid == (["Paris"] if books else [])
        if not books:
            assert parts == [OpenQuestion("Shall I book the trip to Paris?", ("Paris",))]
            said.append(UserSaid(4, "yes"))
            async for _ in brain.reply(Request(4, "yes", tuple(said), conversation="call")):
                pass
            assert paid == ["Paris"]

    run_simulated(scene())


@pytest.mark.req("H-14")
@pytest.mark.parametrize(
    ("heard", "again"),
    [
        ("Got it, I've updated your city to Rome. ", "Shall I book the trip to Rome?"),
        ("Got it, I've up", "Got it, I've updated your city to Rome. Shall I book the trip to Rome?"),
    ],
)
def test_of_an_answer_that_was_cut_off_only_the_question_is_said_again_if_the_rest_was_heard(
    heard: str, again: str
) -> None:
    async def pay(city: str) -> dict[str, str]:
        raise AssertionError(city)

    async def scene() -> None:
        brain = FlowBrain(parse_flows(CONFIRMED), Registry([pay]), NLU, today=lambda: "2026-03-04")
        items: list[UserSaid | AgentSaid] = []
        spoken = ""
        for turn, text in enumerate(("I want to travel", "Paris", "change the city to Rome", "yes"), 1):
            if text == "yes":
                items.append(AgentSaid(turn, heard, interrupted=True))
            items.append(UserSaid(turn, text))
            request = Request(turn, text, tuple(items), conversation="call", premature=text == "yes")
            parts = [part async for part in brain.reply(request)]
            spoken = "".join(part if isinstance(part, str) else getattr(part, "text", "") for part in parts)
        assert spoken == again

    run_simulated(scene())


@pytest.mark.req("H-06.unheard")
@pytest.mark.parametrize(
    ("given", "origin"),
    [({"premature": True}, None), ({"premature": True, "typed": True}, "Boston"), ({}, "Boston")],
    ids=["spoken too early", "typed too early", "after the question"],
)
def test_a_value_that_was_spoken_before_its_question_was_heard_is_asked_again(
    given: dict[str, bool], origin: str | None
) -> None:
    """The end of the user's own sentence isn't the answer to a question that the user has not heard."""

    async def scene() -> None:
        brain, said, heard = flights(), list[Any](), ""
        for turn, text in enumerate(("I want to book a flight to", "Boston"), 1):
            said.append(UserSaid(turn, text))
            request = Request(turn, text, tuple(said), conversation="call", **given if turn == 2 else {})
            heard = "".join([str(getattr(part, "text", part)) async for part in brain.reply(request)])
        talk = brain.talk_of("call")
        assert talk is not None
        assert talk.state.slots.get("origin") == origin
        assert ("fly from" in heard) == (origin is None)
        said.append(UserSaid(3, "Boston"))  # said again, again too early: now it is meant
        async for _ in brain.reply(Request(3, "Boston", tuple(said), conversation="call", premature=True)):
            pass
        assert talk.state.slots.get("origin") == "Boston"

    run_simulated(scene())


@pytest.mark.req("H-06.unheard")
def test_after_a_question_that_was_heard_before_a_value_may_come_at_any_time() -> None:
    async def scene() -> None:
        brain, said = flights(), list[Any]()
        said.append(UserSaid(1, "I want to book a flight"))
        request = Request(1, "I want to book a flight", tuple(said), conversation="call")
        asked = "".join([str(getattr(part, "text", part)) async for part in brain.reply(request)])
        said += [AgentSaid(1, asked), AgentSaid(2, "Are you"), UserSaid(2, "Boston")]
        async for _ in brain.reply(Request(2, "Boston", tuple(said), conversation="call", premature=True)):
            pass
        talk = brain.talk_of("call")
        assert talk is not None
        assert talk.state.slots.get("origin") == "Boston"

    run_simulated(scene())


def slots_of(brain: FlowBrain, call: Call) -> dict[str, Any]:
    """The slots of the open task of this call."""
    talk = brain.talk_of(call.conversation.id)
    assert talk is not None
    assert talk.state.top is not None
    return {name: filled.value for name, filled in talk.state.top.slots}


@pytest.mark.req("H-06.unheard")
def test_the_end_of_a_sentence_over_the_next_question_becomes_no_answer_to_it() -> None:
    """On a call: the question for the origin was cut after a moment."""
    brain = flights()
    with Call(Agent(brain)) as call:
        call.says("I want to book a flight to").interrupts("Boston", after_ms=64)
        call.expect_heard("Where would you like to fly from?")
        assert slots_of(brain, call) == {}
        call.user("Chicago").expect_heard("Where would you like to fly to?")
        assert slots_of(brain, call) == {"origin": "Chicago"}


BOOKED = ("I want to book a flight", "Boston", "Paris", "tomorrow")
CANCELLED = ("I want to book a flight", "Boston", "cancel that", "yes")


@pytest.mark.req("H-06.unheard")
@pytest.mark.parametrize("before", [BOOKED, CANCELLED], ids=["second booking", "after a cancelled booking"])
def test_a_question_that_was_heard_in_an_earlier_task_has_not_been_asked_in_this_one(before: tuple[str, ...]) -> None:
    """The same question and the same answer were said in the task before."""
    brain = flights()
    with Call(Agent(brain)) as call:
        for text in before:
            call.user(text).settles()
        call.says("I want to book a flight to").interrupts("Boston", after_ms=64)
        call.settles()
        assert slots_of(brain, call) == {}
        assert call.heard[-1] == "Where would you like to fly from?"
        call.user("Chicago").settles()
        assert slots_of(brain, call) == {"origin": "Chicago"}


@pytest.mark.req("H-06.unheard")
@pytest.mark.parametrize(
    ("said", "slots"),
    [
        ("from London to Boston", {"origin": "London", "destination": "Boston"}),
        ("to Boston", {"destination": "Boston"}),
        ("from Boston", {"origin": "Boston"}),
        ("Boston please", {}),
        ("in Boston", {}),
    ],
)
def test_values_that_name_their_slots_are_kept_before_the_question_is_heard(said: str, slots: dict[str, str]) -> None:
    brain = flights()
    with Call(Agent(brain)) as call:
        call.says("I want to book a flight").interrupts(said, after_ms=64)
        call.settles()
        assert slots_of(brain, call) == slots
        asked = "depart?" if len(slots) == 2 else "fly from?" if "origin" not in slots else "fly to?"
        assert asked in call.heard[-1]


@pytest.mark.req("H-06.unheard")
def test_a_day_that_may_be_two_is_no_answer_to_a_question_that_was_not_heard_either() -> None:
    brain = flights()
    with Call(Agent(brain)) as call:
        call.user("I want to book a flight").settles()
        call.says("from Boston to London").interrupts("next Friday", after_ms=64)
        call.settles()
        assert slots_of(brain, call) == {"origin": "Boston", "destination": "London"}
        assert call.heard[-1] == "When would you like to depart?"


@pytest.mark.req("H-06.unheard")
def test_another_process_knows_since_when_a_question_is_open() -> None:
    """The question was heard, and cut off only when it was said again. So a value may come at any time."""

    async def scene() -> None:
        store, said = RecentCheckpoints(), list[Any]()
        for turn, text in enumerate(("I want to book a flight", "please repeat", "Boston"), 1):
            brain = flights(store=store)  # a new process for each turn
            said.append(UserSaid(turn, text))
            request = Request(turn, text, tuple(said), conversation="call", premature=turn == 3)
            heard = "".join([str(getattr(part, "text", part)) async for part in brain.reply(request)])
            assert heard == f"Where would you like to fly {'from' if turn < 3 else 'to'}? "
            said.append(AgentSaid(turn, heard[: 5 if turn == 2 else None]))
        talk = brain.talk_of("call")
        assert talk is not None
        assert talk.state.slots.get("origin") == "Boston"

    run_simulated(scene())


@pytest.mark.req("H-17")
def test_a_flow_says_how_complete_the_words_are_that_it_has_not_processed() -> None:
    brain = flights()
    assert brain.completeness("one", (UserSaid(1, "I would like to fly to"),)) is Completeness.OPEN
    assert brain.completeness("one", (UserSaid(1, "I want to book a flight"),)) is Completeness.COMPLETE

    async def ask() -> None:
        asked = (UserSaid(1, "book a flight"),)
        assert [part async for part in brain.reply(Request(1, "book a flight", asked, conversation="one"))]

    asyncio.run(ask())
    assert brain.completeness("one", (UserSaid(2, "Boston"),)) is Completeness.COMPLETE
    assert brain.completeness("one", (UserSaid(1, "book a flight from"),)) is Completeness.OPEN
    assert brain.completeness("one", (UserSaid(1, "book a flight from Boston"),)) is Completeness.COMPLETE
    assert brain.completeness("one", (UserSaid(2, "Boston", confidence=0.1),)) is Completeness.UNKNOWN
    talk = brain.talk_of("one")
    assert talk is not None
    assert talk.state.turn_count == 1


@pytest.mark.req("H-17")
def test_half_a_sentence_to_a_flow_waits_for_the_rest() -> None:
    with Call(Agent(flights())) as call:
        call.user("I want to book a flight").expect_heard("Where would you like to fly from?")
        call.says("I'd like to fly from").waits(700)
        call.says("New York")
        call.expect_heard("Where would you like to fly to?").expect_asked_once()


def test_a_brain_has_the_language_of_its_flows() -> None:
    assert flights().language == "en"

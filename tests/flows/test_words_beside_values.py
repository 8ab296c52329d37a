"""Words beside a value never fill another slot, and never run an action: whole dialogues without a model."""

from __future__ import annotations

import pytest

from duologue.dialogue.effects import Respond
from duologue.flows.dialogue_session import DialogueSession
from duologue.flows.load import parse_flows
from duologue.flows.registry import Registry
from duologue.nlu.local import LocalNlu
from duologue.runtime.simulated_clock import run_simulated

FLOWS = parse_flows("""
version: 1
slots:
  kennel: {type: number, label: kennel, prompt: "What is the number of the kennel?"}
  day: {type: date, label: day, prompt: "On which day?", future: true}
  hour: {type: time, label: hour, prompt: "At what time?", hours: [1, 12], future: true}
  dogs: {type: number, label: number of dogs, prompt: "How many dogs?"}
  half: {type: choice, label: half of the day, prompt: "In the morning or in the evening?", choices: [morning, evening]}
  food:
    type: choice
    label: food
    prompt: Dry food or wet food?
    choices: [dry food, wet food]
  owner: {type: name, label: name, prompt: "What is your name?"}
  mobile: {type: phone, label: mobile, prompt: "What is your mobile number?"}
  place: {type: text, label: collection place, prompt: "Where do we collect the dog?"}
  new_day: {type: date, label: new day, prompt: "To which day?", future: true}
  ticket: {type: code, label: ticket, prompt: "What is the ticket?"}
flows:
  feed:
    description: feed a dog
    examples: [I want to have a dog fed]
    steps:
      - collect: kennel
      - collect: day
      - collect: hour
      - collect: food
      - confirm: "Kennel {kennel} on {day} at {hour}, {food}?"
      - action: store
  fetch:
    description: have a dog fetched
    examples: [please fetch my dog]
    steps:
      - collect: place
      - collect: half
      - collect: owner
      - collect: mobile
      - collect: hour
      - confirm: "From {place} in the {half}, {owner}, {mobile}, {hour}?"
      - action: store
  postpone:
    description: postpone a grooming
    examples: [I need to postpone a grooming]
    steps:
      - collect: ticket
      - collect: new_day
      - confirm: "{ticket} on {new_day}?"
      - action: store
""")


class Kennel:
    """A caller of the kennel. Each call of `says` holds the whole dialogue again, with further sentences."""

    def __init__(self) -> None:
        self.said: tuple[str, ...] = ()
        self.runs: list[str] = []
        self.answer = ""
        self.values: dict[str, object] = {}

    def says(self, *texts: str) -> Kennel:
        self.said = (*self.said, *texts)
        self.runs.clear()
        run_simulated(self._hold())
        return self

    async def _hold(self) -> None:
        functions, nlu = Registry({"store": self._store}), LocalNlu(words_only=True)
        talk = DialogueSession(FLOWS, functions, nlu, today=lambda: "2026-11-18T10:00", now=lambda: 1_000)
        for text in self.said:
            self.answer = " ".join([item.text async for item in talk.hear(text) if isinstance(item, Respond)])
        top = talk.state.top
        self.values = {name: filled.value for name, filled in top.slots} if top is not None else {}

    def _store(self, key: str) -> None:
        self.runs.append(key)


def fetching() -> Kennel:
    return Kennel().says(
        "please fetch my dog", "12 Mill Lane", "evening", "Ida Brook",
        "oh seven nine double one, two two three, four five six",
        "five o'clock",
    )  # fmt: skip


@pytest.mark.req("D-04")
@pytest.mark.parametrize("said", ["four oh nine", "kennel four oh nine", "Four oh nine. Are you open tomorrow?"])
def test_a_number_read_digit_by_digit_is_no_time_of_day(said: str) -> None:
    values = Kennel().says("I want to have a dog fed", said).values
    assert values == {"kennel": 409}


def test_a_position_is_about_the_open_question_only() -> None:
    caller = Kennel().says("I want to have a dog fed", "the last one")
    assert caller.values == {}


def test_a_day_that_the_caller_cannot_keep_is_no_new_day() -> None:
    caller = Kennel().says("I need to postpone a grooming, it's on Friday but I can't come")
    assert "new_day" not in caller.values
    assert caller.says("AB 12").answer == "To which day?"


def test_a_greeting_is_no_part_of_the_day() -> None:
    assert "half" not in Kennel().says("Good evening, please fetch my dog").values


@pytest.mark.req("D-07")
def test_a_value_that_is_called_wrong_is_the_only_one_that_changes() -> None:
    caller = fetching()
    before = caller.values
    caller.says(
        "The mobile is wrong, there's a two too many. It's oh seven nine double one, two oh three, four five six"
    )
    assert caller.values == {**before, "mobile": "07911203456"}


def test_a_day_or_time_in_a_story_changes_nothing() -> None:
    caller = fetching()
    before = caller.values
    caller.says("no, sorry, my daughter's working there till late, her boss comes at six")
    assert caller.values == before
    assert caller.runs == []


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("No, the collection place is wrong, it's 4 Park Road", "4 Park Road"),
        ("change the collection place to 4 Park Road instead we moved house", "4 Park Road"),
    ],
)
def test_a_new_text_is_stored_without_the_words_around_it(said: str, place: str) -> None:
    assert fetching().says(said).values["place"] == place


def test_the_name_of_a_text_alone_asks_for_it_again() -> None:
    assert fetching().says("no, change the collection place").answer == "Where do we collect the dog?"


def test_a_text_that_is_mended_at_its_end_is_read_back_mended() -> None:
    caller = Kennel().says("please fetch my dog", "Flat 2, 7 Mill Lane. Sorry, I meant 17 Mill Lane")
    assert caller.values["place"] == "Flat 2, 17 Mill Lane"
    assert "Flat 2, 17 Mill Lane" in caller.answer


@pytest.mark.parametrize("said", ["12 Mill Lane, but can he take his basket?", "12 Mill Lane, as I said"])
def test_a_question_or_a_remark_after_a_text_is_not_stored(said: str) -> None:
    assert Kennel().says("please fetch my dog", said).values["place"] == "12 Mill Lane"


@pytest.mark.parametrize("said", ["Yes. Wait, which mobile did I give? It's a new one", "yes, hang on, we've moved"])
def test_a_yes_that_stops_the_agent_runs_nothing(said: str) -> None:
    caller = fetching()
    assert caller.says(said).runs == []
    caller.says("yes")
    assert len(caller.runs) == 1


def test_an_oh_that_opens_a_remark_is_no_zero() -> None:
    caller = Kennel().says("please fetch my dog", "12 Mill Lane", "evening", "Ida Brook")
    caller.says("oh seven nine double one, two two three, four five six. Oh and is there a fee?")
    assert caller.values["mobile"] == "07911223456"

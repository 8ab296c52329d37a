"""Commands to the conversation itself."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind, SpokenCommand, Unclear, read
from duologue.dialogue.english.commands import COMMANDS, keeps, postpones, repeats, words_of_command
from duologue.dialogue.english.tokens import tokens_of
from tests.dialogue.english.grammar_replies import WEDNESDAY, ask

TIME = ask(SlotKind.TIME, "What time shall I book the court for?", "court_time")


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("reply", "name"),
    {
        "cancel": "cancel",
        "Never mind.": "cancel",
        "uh, go back please": "back",
        "repeat that": "repeat",
        "Sorry, what?": "repeat",
        "Could you say that again, please?": "repeat",
        "skip this one": "skip",
        "help": "help",
        "what can I say?": "help",
        "I'd like to talk to a person": "person",
        "agent!": "person",
        "start over": "restart",
    }.items(),
)
@pytest.mark.parametrize("kind", [SlotKind.TIME, SlotKind.NAME, SlotKind.TEXT, SlotKind.YES_NO, SlotKind.CODE])
def test_a_command_as_the_whole_reply_is_not_a_value(reply: str, name: str, kind: SlotKind) -> None:
    assert read(ask(kind, "And then?"), reply, WEDNESDAY) == SpokenCommand(name)


@pytest.mark.parametrize("reply", ["cancel the 8 pm one", "go back to the blue one", "help my brother"])
def test_a_command_with_more_to_it_is_for_nlu(reply: str) -> None:
    assert isinstance(read(TIME, reply, WEDNESDAY), Unclear)


def test_commands_are_written_as_they_are_compared() -> None:
    assert all(word == word.casefold() and word for words in COMMANDS for word in words)


def test_a_shared_preposition_does_not_repeat_the_question() -> None:
    # Past bug: "hold on", after "shall I end it on March 31?", was no "hold on".
    assert not repeats("Shall I end it on March 31?", tokens_of("hold on"))
    assert repeats("Shall I cancel it?", tokens_of("cancel it"))


@pytest.mark.parametrize(
    ("reply", "later"),
    {"not yet": True, "no, not just yet, please": True, "not": False, "not yet, Friday": False}.items(),
)
def test_not_yet_postpones(reply: str, later: bool) -> None:
    assert postpones(tokens_of(reply)) is later


@pytest.mark.parametrize(
    ("reply", "same"),
    {
        "leave it as it is": True,
        "please keep that way": False,
        "no, keep everything as is": True,
        "leave it": False,
    }.items(),
)
def test_leave_it_as_it_is_changes_nothing(reply: str, same: bool) -> None:
    assert keeps(tokens_of(reply)) is same


@pytest.mark.parametrize("name", ["restart", "person"])
def test_a_word_of_many_meanings_is_no_hint_at_a_command(name: str) -> None:
    assert not words_of_command(name) & {"start", "with", "me"}

"""The summary for the next session: written by the brain, or quoted, and about the whole conversation."""

from __future__ import annotations

import asyncio

import pytest

from duologue.ports.history import AgentSaid, Item, UserSaid
from duologue.runtime.agent import Agent
from duologue.runtime.checkpoint import NotRestorable, read_checkpoint
from duologue.runtime.checkpoint_writer import CheckpointWriter
from duologue.runtime.conversation import Conversation
from duologue.runtime.session_summary import (
    PIECE_CHARS_MAX,
    QUOTE_CHARS_MAX,
    SUMMARY_CHARS_MAX,
    SessionSummary,
    pieces,
    quoted,
)
from duologue.runtime.simulated_clock import run_simulated
from duologue.runtime.transcript import Transcript
from duologue.store.memory import MemoryStore
from duologue.testing import ScriptedBrain, ScriptedLine, ScriptedSession, ScriptedVoice
from tests.runtime.stored_calls import Noted, call


class Talk(Transcript):
    """A transcript into which a test writes turns."""

    def turn(self, said: str, answer: str = "I see.") -> None:
        number = len(self) + 1
        self._append(UserSaid(number, said))
        self.begin_reply(number)
        if answer:
            self.end_reply(number, answer, "", 1_000, False)


def talked(*said: str) -> Talk:
    talk = Talk()
    for text in said:
        talk.turn(text)
    return talk


class Writer:
    """A brain that keeps the first word of each line, and notes what it was given."""

    def __init__(self) -> None:
        self.given: list[str] = []

    async def summarise(self, text: str, chars_max: int) -> str:
        assert chars_max == SUMMARY_CHARS_MAX
        self.given.append(text)
        await asyncio.sleep(1)
        return f"summary {len(self.given)}"


# -- Quoted


@pytest.mark.req("L-16.summary")
def test_a_name_given_twelve_turns_ago_is_in_the_summary() -> None:
    talk = talked("my name is Ada", *(f"question {number}" for number in range(12)))
    assert "my name is Ada" not in [item.text for item in talk.recent() if isinstance(item, UserSaid)]
    text = SessionSummary(talk, None).text
    assert text.splitlines()[0] == "User: my name is Ada"
    assert text.splitlines()[-2:] == ["User: question 11", "Agent: I see."]


@pytest.mark.req("L-16.summary")
def test_long_recent_turns_do_not_push_older_ones_out_of_the_summary() -> None:
    talk = talked("my name is Ada", *("so " * 300 for _ in range(12)))
    assert SessionSummary(talk, None).text.startswith("User: my name is Ada")


def test_what_is_quoted_is_short_and_keeps_the_beginning_and_the_end() -> None:
    items: list[Item] = []
    for number in range(40):
        items += [UserSaid(number, f"question {number} " + "x" * 100), AgentSaid(number, "y" * 200)]
    text = quoted(tuple(items))
    assert len(text) <= QUOTE_CHARS_MAX
    assert text.startswith("User: question 0 ")
    assert "question 39" in text
    assert "Agent" not in text, "the words of the user come first"


def test_each_quoted_turn_is_one_line() -> None:
    assert quoted((UserSaid(1, "one\ntwo"), AgentSaid(1, ""), AgentSaid(2, "three"))) == "User: one two\nAgent: three"


# -- Written by the brain


@pytest.mark.req("L-16.summary")
def test_the_brain_is_given_the_whole_conversation_and_later_only_what_is_new() -> None:
    async def scene() -> None:
        talk, brain = talked("my name is Ada", *(f"question {number}" for number in range(12))), Writer()
        summary = SessionSummary(talk, brain.summarise)
        await summary.improve()
        assert brain.given[0].splitlines()[0] == "User: my name is Ada"
        assert brain.given[0].splitlines()[-1] == "Agent: I see."
        assert summary.text == "summary 1"
        assert not summary.can_improve
        talk.turn("and my age is ten")
        assert summary.text == "summary 1\nUser: and my age is ten\nAgent: I see."
        await summary.improve()
        assert brain.given[1] == "summary 1\nUser: and my age is ten\nAgent: I see."

    run_simulated(scene())


def test_an_answer_that_still_plays_is_not_covered_by_the_summary() -> None:
    async def scene() -> None:
        talk, brain = talked("hello"), Writer()
        talk.turn("how far is it", answer="")
        summary = SessionSummary(talk, brain.summarise)
        await summary.improve()
        talk.end_reply(3, "Two miles.", "", 900, False)
        assert summary.text == "summary 1\nAgent: Two miles."
        assert summary.can_improve

    run_simulated(scene())


def test_a_conversation_of_hours_is_summarised_piece_by_piece() -> None:
    async def scene() -> None:
        talk, brain = talked(*(f"question {number} " + "x" * 400 for number in range(100))), Writer()
        summary = SessionSummary(talk, brain.summarise)
        await summary.improve()
        assert len(brain.given) == 4
        assert all(len(text) <= PIECE_CHARS_MAX + SUMMARY_CHARS_MAX + 1 for text in brain.given)
        assert [text.splitlines()[0] for text in brain.given[1:]] == ["summary 1", "summary 2", "summary 3"]
        assert "".join(brain.given).count("User: ") == 100, "no turn is left out, and none is in two pieces"

    run_simulated(scene())


def test_two_summaries_are_never_written_at_once() -> None:
    async def scene() -> None:
        summary = SessionSummary(talked("hello"), Writer().summarise)
        running = asyncio.ensure_future(summary.improve())
        await asyncio.sleep(0)
        assert not summary.can_improve
        await running

    run_simulated(scene())


def test_a_brain_that_fails_leaves_the_last_summary() -> None:
    class Failing(Writer):
        async def summarise(self, text: str, chars_max: int) -> str:
            if self.given:
                raise RuntimeError("no")
            return await super().summarise(text, chars_max)

    async def scene() -> None:
        talk = talked("hello")
        summary = SessionSummary(talk, Failing().summarise)
        await summary.improve()
        talk.turn("and more")
        with pytest.raises(RuntimeError):
            await summary.improve()
        assert summary.text == "summary 1\nUser: and more\nAgent: I see."
        assert summary.can_improve

    run_simulated(scene())


@pytest.mark.parametrize(("chars_max", "made"), [(3, ["aa", "bbb", "cccccc"]), (6, ["aa\nbbb", "cccccc"])])
def test_pieces_are_whole_lines(chars_max: int, made: list[str]) -> None:
    assert list(pieces(["aa", "bbb", "cccccc"], chars_max)) == made


# -- Saved


@pytest.mark.req("L-16.saved")
def test_the_summary_of_the_brain_is_saved_and_another_process_goes_on_from_it() -> None:
    class Summarising(ScriptedBrain):
        async def summarise(self, text: str, chars_max: int) -> str:
            return f"They began with {text.splitlines()[0]!r}."

    async def begin(store: MemoryStore, brain: ScriptedBrain) -> tuple[Conversation, CheckpointWriter]:
        agent = Agent(brain, voice=ScriptedVoice(), session=ScriptedSession)
        lease, kept = await store.claim("call", "node", 10_000, force=True)
        saved = read_checkpoint(kept.parts, agent.settings) if kept.parts else None
        talk = Conversation(agent, ScriptedLine(), conversation_id="call", checkpoint=saved)
        writer = CheckpointWriter(store, lease, kept.revision, lambda: None, lambda problem: None)
        talk.engine.save_with(writer)
        await (talk.start() if saved is None else talk.restore())
        return talk, writer

    async def scene() -> None:
        store = MemoryStore()
        talk, writer = await begin(store, Summarising(otherwise="Yes."))
        talk.type("my name is Ada")
        await asyncio.sleep(5)
        talk.reconnect()
        await asyncio.sleep(5)
        assert talk.context["summary"] == "They began with 'User: my name is Ada'."
        await writer.wait_until_saved()
        talk.crash()
        talk, _ = await begin(store, ScriptedBrain())  # this brain couldn't write it again
        assert talk.context["summary"] == "They began with 'User: my name is Ada'."
        await talk.end()

    run_simulated(scene())


@pytest.mark.parametrize("damaged", [7, ["text"], ["text", -1], [1, 1], None])
def test_a_damaged_summary_is_refused(damaged: object) -> None:
    async def scene() -> None:
        kept = await call(Noted(), 1)
        agent = Agent(ScriptedBrain(), voice=ScriptedVoice())
        words = {**kept.parts["words"], "summary": damaged}
        with pytest.raises(NotRestorable, match="the summary can't be read"):
            read_checkpoint({**kept.parts, "words": words}, agent.settings)
        del words["summary"]
        assert read_checkpoint({**kept.parts, "words": words}, agent.settings).summary == ("", 0)

    run_simulated(scene())

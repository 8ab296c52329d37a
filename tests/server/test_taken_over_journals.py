"""A conversation that moves to another node is recorded by both: each recording replays exactly, and the second begins
with a state of the first."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.core.events import VoicesPlayed
from duologue.hearing.words import SaidWords
from duologue.observe.diagnostics import correlation_id
from duologue.observe.recorder import ears_path
from duologue.ports.ears import Final, Partial, SpeechBegan, SpeechEnded
from duologue.replay.ears_file import read_ears
from duologue.replay.journal import read_journal, replay
from duologue.runtime.agent import Agent
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.client_messages import ClientMessage
from duologue.server.served_conversation import ServedConversation
from duologue.testing import ScriptedBrain, ScriptedEars, ScriptedVoice
from tests.server.moving_nodes import Node, Page, hello_of, store_here

ANSWER = "Here is an answer that takes a good while to say, because it is long."


class Nodes:
    """Nodes that share a store and a folder for journals, and one user who speaks, types and reconnects."""

    def __init__(self, folder: Path, **given: Any) -> None:
        self.folder = folder
        self.store = store_here()
        self.given = given
        self.page = Page()
        self.nodes: list[Node] = []
        self.ears = ScriptedEars()
        self.served: ServedConversation
        self.utterance = 0

    def _make(self) -> Agent:
        self.ears = ScriptedEars()
        self.utterance = 0
        return Agent(ScriptedBrain(lambda request: ANSWER), voice=ScriptedVoice(), ears=self.ears, **self.given)

    async def _open(self) -> Node:
        node = Node("abc"[len(self.nodes)], self.store, self._make, self.folder)
        self.nodes.append(node)
        await node.open()
        return node

    async def begin(self) -> None:
        node = await self._open()
        self.served = await node.begin(self.page)

    async def say(self, text: str) -> None:
        self.start_to_say(text)
        await asyncio.sleep(0.4)
        self.ears.tell(SpeechEnded(self.utterance))
        self.ears.tell(Final(text, 0.9, self.utterance))
        await asyncio.sleep(1.5)

    def start_to_say(self, text: str) -> None:
        self.utterance += 1
        self.ears.tell(SpeechBegan(self.utterance))
        self.ears.tell(Partial(text, 0.8, self.utterance))

    def type(self, text: str) -> None:
        self.served.do(ClientMessage("type", {"text": text, "id": text}))

    def hear(self, ms: int) -> int:
        """The page reports that it has played so much of the newest voice. Returns the voice."""
        voice = max(self.page.sounds)
        self.served.line.note_played(voice, ms)
        return voice

    async def crash(self) -> None:
        self.nodes[-1].die()

    async def drain(self) -> None:
        """Stop the node in order."""
        node = self.nodes[-1]
        await asyncio.wait_for(node.conversations.drain(), 120)
        await node.leases.close()

    async def move(self, **hello: Any) -> None:
        """The page reconnects to another node."""
        node, back = await self._open(), Page()
        served = await node.reconnect(back, hello_of(self.page, **hello))
        assert served is not None
        self.served, self.page = served, back
        await asyncio.sleep(1)

    async def end(self) -> None:
        await self.served.end("hung up")
        await asyncio.sleep(0.2)

    def journals(self) -> list[Path]:
        name = correlation_id(self.served.id)
        paths = [self.folder / f"{name}.jsonl", *(self.folder / f"{name}-{n}.jsonl" for n in range(2, 5))]
        return [path for path in paths if path.exists()]


def play(folder: Path, act: Callable[[Nodes], Awaitable[None]], **given: Any) -> list[Path]:
    """Play a conversation on several nodes until its end. Returns its journals."""

    async def scene() -> list[Path]:
        nodes = Nodes(folder, **given)
        await nodes.begin()
        await act(nodes)
        await nodes.end()
        return nodes.journals()

    found: list[Path] = run_simulated(scene())
    return found


def verified(path: Path) -> dict[str, Any]:
    """What `duologue replay` says about this journal."""
    done = CliRunner().invoke(app, ["replay", str(path), "--json"])
    assert done.exit_code == 0, done.output + str(done.exception)
    data: dict[str, Any] = json.loads(done.stdout)
    assert data["agrees"]
    return data


def lines_of(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines(keepends=True)


# -- Stories: what has happened when the first node ends


async def _between_turns(nodes: Nodes) -> None:
    await nodes.say("what is the weather like")
    for _ in range(100):
        voice = max(nodes.page.sounds)
        nodes.served.line.note_finished(voice, nodes.page.sounds[voice])
        await asyncio.sleep(0.1)
    assert nodes.served.is_resting


async def _mid_answer(nodes: Nodes) -> None:
    await nodes.say("what is the weather like")
    nodes.hear(300)
    await asyncio.sleep(0.2)


async def _mid_speech(nodes: Nodes) -> None:
    await _between_turns(nodes)
    nodes.start_to_say("and what about")
    await asyncio.sleep(0.3)


async def _typed(nodes: Nodes) -> None:
    nodes.type("what is the weather like")
    await asyncio.sleep(0.5)


async def _in_the_step_of_a_turn(nodes: Nodes) -> None:
    await _between_turns(nodes)
    nodes.type("and tomorrow?")  # dies before this is saved


STORIES = [_between_turns, _mid_answer, _mid_speech, _typed, _in_the_step_of_a_turn]


@pytest.mark.req("D-14")
@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize("orderly", [False, True], ids=["killed", "drained"])
def test_the_recordings_of_both_nodes_replay_and_the_second_continues_the_first(
    tmp_path: Path, story: Callable[[Nodes], Awaitable[None]], orderly: bool
) -> None:
    async def act(nodes: Nodes) -> None:
        await story(nodes)
        await (nodes.drain() if orderly else nodes.crash())
        await nodes.move()
        await nodes.say("how about the day after tomorrow")
        nodes.hear(500)
        await asyncio.sleep(0.2)
        await nodes.say("stop, that is enough for now")

    first, second = play(tmp_path, act)
    one, two = verified(first), verified(second)
    assert (one["complete"], two["complete"]) == (orderly, True)
    assert (one["ears"] > 0, two["ears"] > 5, one["unverified"], two["unverified"]) == (True, True, 0, 0)
    assert two["continues"]["file"] == str(first)
    assert two["continues"]["events"] == one["events"]
    if orderly:
        assert two["continues"]["event"] == one["events"], "everything was saved"
    else:
        assert 0 <= one["events"] - two["continues"]["event"] <= 6


@pytest.mark.parametrize("story", [_between_turns, _mid_answer, _mid_speech, _typed])
def test_the_second_recording_begins_with_the_words_that_the_first_node_had(
    tmp_path: Path, story: Callable[[Nodes], Awaitable[None]]
) -> None:
    had: list[SaidWords] = []

    async def act(nodes: Nodes) -> None:
        await story(nodes)
        had.append(nodes.served.conversation.engine.hearing.state.words)
        await nodes.crash()
        await nodes.move()

    _, second = play(tmp_path, act)
    assert had[0].turns
    assert read_ears(lines_of(ears_path(second))).words == had[0]


def test_a_voice_that_was_played_but_not_saved_is_an_event_of_the_second_recording(tmp_path: Path) -> None:
    async def act(nodes: Nodes) -> None:
        await _mid_answer(nodes)
        await nodes.crash()
        await nodes.move(played={"voice": 9, "ms": 700, "chunk": 7})
        await nodes.say("and tomorrow")
        assert min(nodes.page.sounds) > 9

    first, second = play(tmp_path, act)
    assert not verified(first)["complete"]
    assert verified(second)["continues"]["file"] == str(first)
    (told,) = [one.event for one in replay(read_journal(lines_of(second))) if isinstance(one.event, VoicesPlayed)]
    assert told.played == 9


@pytest.mark.parametrize("played_ms", [0, 200, 900, 2_500])
def test_what_a_client_has_heard_meanwhile_is_part_of_the_second_recording(tmp_path: Path, played_ms: int) -> None:
    async def act(nodes: Nodes) -> None:
        await _mid_answer(nodes)
        voice = max(nodes.page.sounds)
        await nodes.crash()
        await nodes.move(played={"voice": voice, "ms": played_ms, "chunk": 9})
        await asyncio.sleep(3)

    first, second = play(tmp_path, act)
    verified(first)
    assert verified(second)["continues"]["file"] == str(first)


def test_a_conversation_that_moves_twice_has_three_recordings_each_continuing_the_one_before(tmp_path: Path) -> None:
    async def act(nodes: Nodes) -> None:
        await _mid_answer(nodes)
        await nodes.crash()
        await nodes.move()
        await nodes.say("never mind")
        await nodes.drain()
        await nodes.move()
        await nodes.say("how about tomorrow")

    paths = play(tmp_path, act)
    found = [verified(path) for path in paths]
    assert [one["complete"] for one in found] == [False, True, True]
    assert [one["continues"]["file"] for one in found[1:]] == [str(path) for path in paths[:2]]


def test_a_node_that_still_runs_when_its_client_moves_away_records_to_its_own_end(tmp_path: Path) -> None:
    async def act(nodes: Nodes) -> None:
        await _mid_answer(nodes)
        await nodes.move()
        await nodes.say("how about tomorrow")
        await asyncio.sleep(10)

    first, second = play(tmp_path, act)
    assert (verified(first)["complete"], verified(second)["complete"]) == (True, True)
    assert verified(second)["continues"]["file"] == str(first)


@pytest.mark.req("C-SEC-002")
def test_redacted_copies_of_both_recordings_have_no_words_and_replay(tmp_path: Path) -> None:
    async def act(nodes: Nodes) -> None:
        await _mid_answer(nodes)
        await nodes.crash()
        await nodes.move()
        await nodes.say("bring me two pelicans")

    for path in play(tmp_path / "calls", act):
        out = tmp_path / "report" / path.name
        done = CliRunner().invoke(app, ["replay", str(path), "--redact", str(out)])
        assert done.exit_code == 0, done.output
        written = out.read_text("utf-8") + ears_path(out).read_text("utf-8")
        assert not [word for word in ("weather", "pelicans", "Here", "because") if word in written]
        found = verified(out)
        assert found["redacted"]
        assert found["ears"] == verified(path)["ears"]
        assert found["complete"] == verified(path)["complete"]


def test_a_journal_that_can_not_be_written_does_not_keep_a_node_from_taking_over(tmp_path: Path) -> None:
    async def act(nodes: Nodes) -> None:
        await _between_turns(nodes)
        await nodes.crash()
        nodes.folder = tmp_path / "a file" / "journals"
        await nodes.move()
        await nodes.say("how about tomorrow")
        assert nodes.page.sounds
        assert [one.where for one in nodes.served.conversation.engine.failures] == ["journal"]

    (tmp_path / "a file").write_text("")
    play(tmp_path / "calls", act)

"""A long transcript is saved in pages: each write holds what has changed, and nothing is lost."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from duologue.core.leaves import Outcome
from duologue.hearing.words import SaidWords, hear
from duologue.ports.history import UserSaid
from duologue.ports.tool_call import ToolCall
from duologue.runtime.checkpoint import read_checkpoint
from duologue.runtime.simulated_clock import run_simulated
from duologue.runtime.transcript import Transcript
from duologue.runtime.transcript_pages import PAGE, join_pages
from tests.runtime.stored_calls import Noted, agent, call, said

TURNS = 3 * PAGE


@pytest.mark.req("D-13")
def test_a_write_of_a_long_call_holds_no_more_than_one_of_a_short_call() -> None:
    async def scene() -> None:
        store = Noted()
        kept = await call(store, TURNS)
        assert said(kept) == [f"number {number}" for number in range(TURNS)]
        early = max(len(json.dumps(dict(write.parts))) for write in store.writes[: len(store.writes) // 3])
        late = max(len(json.dumps(dict(write.parts))) for write in store.writes[-len(store.writes) // 3 :])
        assert late < 2 * early  # the page that grows, and at times the one before it

    run_simulated(scene())


@pytest.mark.req("D-13")
def test_what_goes_on_elsewhere_goes_on_with_all_of_it_and_writes_it_once() -> None:
    async def scene() -> None:
        store = Noted()
        kept = await call(store, TURNS)
        store.writes.clear()
        again = await call(store, 1, read_checkpoint(kept.parts, agent().settings))
        assert said(again) == [*(f"number {number}" for number in range(TURNS)), "number 0"]
        assert "words.0" not in {name for write in store.writes for name in write.parts}, "it has not changed"

    run_simulated(scene())


@pytest.mark.req("D-13")
def test_a_page_that_could_not_be_written_is_written_later() -> None:
    async def scene() -> None:
        store = Noted()
        store.fails = 3
        assert said(await call(store, PAGE)) == [f"number {number}" for number in range(PAGE)]

    run_simulated(scene())


@pytest.mark.parametrize("seed", range(20))
def test_the_pages_that_changed_are_all_that_changed(seed: int) -> None:
    """Whatever is done to a transcript: who writes only the pages that it names has all of it."""
    chance, transcript = random.Random(seed), Transcript()
    words = SaidWords()
    written: dict[int, Any] = {}
    for number in range(400):
        turn = chance.randrange(max(1, number - 5), number + 2)
        match chance.randrange(7):
            case 0 | 1:
                words, _ = hear(words, turn, number, f"word {number}", chance.random(), is_final=False)
                transcript.take(words)
                transcript.place(turn)
            case 2:
                transcript.begin_reply(turn)
            case 3:
                transcript.end_reply(chance.randrange(1, number + 2), "heard", "unheard", 100, True)
            case 4:
                transcript.add_call(turn, number, ToolCall("find", {}))
            case 5:
                transcript.add_output(number, "found", Outcome.DONE, "find")
            case 6:
                words, _ = hear(words, chance.randrange(1, number + 2), 1, "a text", 0.9, is_final=True)
                transcript.take(words)
        if chance.random() < 0.3:
            written |= {page: json.dumps(transcript.page(page)) for page in transcript.pages.take()}
    written |= {page: json.dumps(transcript.page(page)) for page in transcript.pages.take()}
    assert transcript.pages.take() == ()
    whole = join_pages(transcript.rest(), [json.loads(written[page]) for page in transcript.pages.all])
    assert whole == json.loads(json.dumps(transcript.dump()))
    again = Transcript()
    again.load(whole, answered=0)
    assert again.items == transcript.items
    assert again.dump() == transcript.dump()
    assert any(isinstance(item, UserSaid) for item in again.items)

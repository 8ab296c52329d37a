"""Honest callers get an answer to each kind of turn from a real server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.lab.torture import honest_callers
from duologue.lab.torture.honest_callers import KINDS, HonestCaller, HonestNotes
from duologue.lab.torture.hostile_agent import ANSWER, make_hostile_agent
from tests.limits import WAIT_S
from tests.server.running_server import running_server


def test_each_kind_of_turn_is_answered_and_timed() -> None:
    async def main() -> None:
        async with running_server(make_hostile_agent) as made:
            callers = [HonestCaller(number, made.port, seed=1) for number in range(len(KINDS))]
            calling = [asyncio.ensure_future(caller.run()) for caller in callers]
            async with asyncio.timeout(WAIT_S):
                while not all(caller.notes.answer_ms for caller in callers):
                    await asyncio.sleep(0.02)
            for task in calling:
                task.cancel()
            await asyncio.gather(*calling, return_exceptions=True)
            assert {kind for caller in callers for kind, _ in caller.notes.answer_ms} == set(KINDS)
            assert not [caller.notes.refused for caller in callers if caller.notes.refused]

    asyncio.run(main())


class _Client:
    """A client whose server answers nothing until `answer` is set, and then as `fails` says."""

    def __init__(self) -> None:
        self.sounds = self.finished = 0
        self.state, self.errors, self.warnings = "listening", dict[str, int](), dict[str, int]()
        self.answer = self.says = ANSWER
        self.answered = asyncio.Event()
        self.failure: Exception | None = None

    async def begin(self, _seat: str) -> None: ...

    async def send(self, *_: Any, **__: Any) -> None: ...

    async def close(self) -> None: ...

    async def until(self, _holds: Any, _what: str) -> None:
        await self.answered.wait()
        self.answer = self.says
        if self.failure is not None:
            raise self.failure


async def _until(holds: Any) -> None:
    async with asyncio.timeout(WAIT_S):
        while not holds():
            await asyncio.sleep(0)


@pytest.mark.parametrize("failure", [None, OSError("gone"), EOFError(), KeyError("state")])
def test_an_answer_after_the_end_of_its_phase_counts_for_the_phase_in_which_it_was_asked(
    failure: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slowest answers are those that are still open when a phase ends. An unknown failure doesn't end a caller."""
    client = _Client()
    client.failure = failure

    async def open_client(*_: Any) -> Any:
        return client

    async def main() -> None:
        monkeypatch.setattr(honest_callers.PlainClient, "open", open_client)
        monkeypatch.setattr(honest_callers, "PAUSE_S", (0.0, 0.0))
        monkeypatch.setattr(honest_callers, "AGAIN_S", 0.0)
        caller = HonestCaller(0, 0, seed=1)
        first = caller.notes
        calling = asyncio.ensure_future(caller.run())
        await _until(lambda: first.open and first.start_ms)
        caller.notes = later = HonestNotes()
        client.answered.set()
        await _until(lambda: not first.open)
        await _until(lambda: later.answer_ms or later.refused)
        assert not calling.done()
        assert len(first.answer_ms) == (0 if failure else 1)
        assert len(first.refused) == (1 if failure else 0), first.refused
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("wrong", "noted"),
    [
        ({"errors": {"refused": 1}}, "refused: refused"),
        ({"warnings": {"unsaved": 1}}, "refused: unsaved"),
        ({"says": "timed_out."}, "the answer was 'timed_out.'"),
    ],
)
def test_a_refusal_a_warning_and_a_wrong_answer_are_noted(
    wrong: dict[str, Any], noted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = _Client()
    for name, value in wrong.items():
        setattr(client, name, value)

    async def open_client(*_: Any) -> Any:
        return client

    async def main() -> None:
        monkeypatch.setattr(honest_callers.PlainClient, "open", open_client)
        monkeypatch.setattr(honest_callers, "PAUSE_S", (0.0, 0.0))
        client.answered.set()
        caller = HonestCaller(2, 0, seed=1)
        calling = asyncio.ensure_future(caller.run())
        await _until(lambda: caller.notes.refused)
        assert caller.notes.refused[0] == f"caller 2 (tool): {noted}"
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)

    asyncio.run(main())

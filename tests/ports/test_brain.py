"""Optional abilities of a brain are recognised by their methods."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from duologue.ports.brain import Forgets, Form, Part, Remembers, Request, ShowsForm, Summarises, Truncates

ABILITIES = (Summarises, ShowsForm, Truncates, Forgets, Remembers)


class PlainBrain:
    async def reply(self, request: Request) -> AsyncIterator[Part]:
        yield request.text


class ShowingBrain(PlainBrain):
    def form(self, conversation: str) -> Form | None:
        return None


class SpeakingBrain(PlainBrain):
    def truncate(self, reply: int, heard_ms: int) -> None: ...


class ForgetfulBrain(PlainBrain):
    def forget(self, conversation: str) -> None: ...


class SummarisingBrain(PlainBrain):
    async def summarise(self, text: str, chars_max: int) -> str:
        return text[:chars_max]


class RememberingBrain(PlainBrain):
    def remember(self, memory: object) -> None: ...

    async def has_more(self, conversation: str) -> bool:
        return False


@pytest.mark.parametrize(
    ("brain", "ability"),
    [
        (PlainBrain(), None),
        (ShowingBrain(), ShowsForm),
        (SpeakingBrain(), Truncates),
        (ForgetfulBrain(), Forgets),
        (SummarisingBrain(), Summarises),
        (RememberingBrain(), Remembers),
    ],
)
def test_a_brain_has_the_abilities_whose_methods_it_has(brain: object, ability: type | None) -> None:
    assert [each for each in ABILITIES if isinstance(brain, each)] == ([ability] if ability else [])

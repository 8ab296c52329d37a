"""Seeded callers: simulated people who talk, interrupt, cough, fall silent, lose the line and hang up.

Rule: the acts of a caller are drawn before the call begins. The call can change when the acts happen, but
not which acts there are.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from duologue.core.leaves import CLOSED
from duologue.runtime.conversation import Conversation, NotRunning
from duologue.testing.person import Person

from .caller_account import CallerAccount, now_ms
from .simulated_agent import ASKS

_BACKCHANNELS = ("mhm", "yeah", "uh huh", "okay")
_BIDS = ("no wait", "stop please", "actually something else", "hold on a second")
_PAUSES_MS = (0, 1, 10, 50, 150, 399, 400, 401, 600, 1_000, 1_500, 2_000, 3_000, 5_000, 8_000)


@dataclass(frozen=True, slots=True)
class CallerAct:
    """Something a caller does, `after_ms` after the previous act."""

    what: str
    after_ms: int
    text: str = ""
    ms: int = 0


def draw_acts(dice: random.Random, troubles: bool) -> list[CallerAct]:
    """Draw the acts of one caller at random. If `troubles` is true, the line may also be lost, and the caller may give
    the commands that users give after a failure (such as retry or dismiss)."""
    weights = {
        "say": 10, "interrupt": 5, "cough": 3, "backchannel": 3, "type": 2, "button": 2, "silence": 1,
        "stop": 1, "pause": 1, "cancel": 1,
        **({"wobble": 1, "drop": 1, "reconnect": 1, "retry": 1, "dismiss": 1} if troubles else {}),
    }  # fmt: skip
    count = dice.randint(3, 9)
    names = dice.choices(list(weights), list(weights.values()), k=count)
    acts = [_draw(name, dice) for name in names]
    return [*acts, CallerAct("hang up", dice.choice(_PAUSES_MS))] if dice.random() < 0.5 else acts


def _draw(name: str, dice: random.Random) -> CallerAct:
    texts = {"interrupt": _BIDS, "backchannel": _BACKCHANNELS}.get(name, ASKS)
    ms = {
        "cough": dice.choice((20, 120, 300, 700, 1_600)),
        "silence": dice.choice((12_000, 25_000, 70_000)),
        "wobble": dice.choice((100, 1_000, 1_999, 2_000, 2_001, 3_000)),
        "drop": dice.choice((10, 900, 3_000, 12_000, 60_000)),
        "pause": dice.choice((100, 2_000, 29_000, 31_000)),
        "interrupt": dice.choice((0, 10, 200, 700, 1_500)),
    }.get(name, 0)
    return CallerAct(name, dice.choice(_PAUSES_MS), dice.choice(texts), ms)


class SeededCaller:
    """A caller who does these acts in one conversation. `said` lists what the caller said."""

    def __init__(
        self,
        person: Person,
        conversation: Conversation,
        acts: list[CallerAct],
        account: CallerAccount | None = None,
    ) -> None:
        self.account = account if account is not None else CallerAccount()
        self.person = person
        self.conversation = conversation
        self.acts = acts
        self.said: list[str] = []

    async def run(self) -> None:
        """Do one act after the other, until the call is over."""
        with suppress(NotRunning):
            for act in self.acts:
                await asyncio.sleep(act.after_ms / 1000)
                if self.conversation.machine_state.link in CLOSED:
                    return
                await self._handlers[act.what](self, act)

    async def _say(self, act: CallerAct) -> None:
        self.said.append(act.text)
        with self.account.utter(act.text, expects_answer=act.what != "backchannel"):
            await self.person.say(act.text)

    async def _interrupt(self, act: CallerAct) -> None:
        """Wait until the agent has spoken for a while, but at most 12 s, then speak."""
        try:
            async with asyncio.timeout(12):
                await self.person.hear_agent(act.ms)
        except TimeoutError:
            pass
        await self._say(act)

    async def _cough(self, act: CallerAct) -> None:
        with self.account.utter():
            await self.person.cough(act.ms, noticed=act.after_ms % 2 == 0)

    async def _type(self, act: CallerAct) -> None:
        self.conversation.type(act.text)
        self.account.typed.append(now_ms())
        self.said.append(act.text)

    async def _button(self, act: CallerAct) -> None:
        self.conversation.press()
        await self._say(act)
        self.conversation.release()

    async def _silence(self, act: CallerAct) -> None:
        await asyncio.sleep(act.ms / 1000)

    async def _wobble(self, act: CallerAct) -> None:
        with self.account.during(self.account.wobbles):
            await self.person.lose_line(act.ms, wobbles=True)

    async def _drop(self, act: CallerAct) -> None:
        await self.person.lose_line(act.ms, wobbles=False)

    async def _pause(self, act: CallerAct) -> None:
        with self.account.during(self.account.pauses):
            self.conversation.suspend()
            await asyncio.sleep(act.ms / 1000)
            self.conversation.resume()

    async def _cancel(self, act: CallerAct) -> None:  # noqa: ARG002
        self.account.gave_up.append(now_ms())
        for job in self.conversation.machine_state.jobs[:1]:
            self.conversation.cancel(job.call)

    async def _command(self, act: CallerAct) -> None:
        commands = {
            "stop": self.conversation.interrupt,
            "reconnect": self.conversation.reconnect,
            "retry": self.conversation.retry,
            "dismiss": self.conversation.dismiss,
            "hang up": self.person.hang_up,
        }
        if act.what in ("stop", "dismiss"):
            self.account.gave_up.append(now_ms())
        if act.what == "hang up":
            self.account.hung_up.append(now_ms())
        commands[act.what]()

    _handlers: dict[str, Callable[[SeededCaller, CallerAct], Awaitable[None]]] = {
        "say": _say,
        "backchannel": _say,
        "interrupt": _interrupt,
        "cough": _cough,
        "type": _type,
        "button": _button,
        "silence": _silence,
        "wobble": _wobble,
        "drop": _drop,
        "pause": _pause,
        "cancel": _cancel,
        **dict.fromkeys(("stop", "reconnect", "retry", "dismiss", "hang up"), _command),
    }

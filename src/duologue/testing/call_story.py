"""Describes what happened in a call, for the message of a failed test."""

from __future__ import annotations

import asyncio
import traceback
from typing import TYPE_CHECKING

from duologue.core.errors import DuologueError
from duologue.observe import signals as sg
from duologue.ports.history import AgentSaid, CallOutput, Item, News, Note, UserSaid

if TYPE_CHECKING:
    from .observed_call import ObservedCall

LINES_MAX = 40
FAILURES_MAX = 3


def call_story(call: ObservedCall) -> str:
    """A description of the call: the words of both sides, then the changes of phase, the failures and their
    tracebacks."""
    moves = [s for s in call.signals if isinstance(s, sg.Transitioned | sg.Failed | sg.Lost | sg.Problem)]
    moves = [s for s in moves if not isinstance(s, sg.Transitioned) or s.view == "phase"]
    said = [line for item in call.history for line in _item_lines(item)]
    lines = ["What was said:", *_last(said), "What happened:"]
    lines += _last([f"{s.at / 1000:8.3f} s  {_move(s)}" for s in moves])
    for raised in list(call.conversation.engine.failures)[-FAILURES_MAX:]:
        if not isinstance(raised.failure, DuologueError | asyncio.CancelledError):
            trace = traceback.format_exception(raised.failure)
            lines += [f"What {raised.where} raised at {raised.at / 1000:.3f} s:", "".join(trace).rstrip()]
    return "\n".join(lines)


def _last(lines: list[str]) -> list[str]:
    left_out = len(lines) - LINES_MAX
    return [
        *([f"  ({left_out} more before this)"] if left_out > 0 else []),
        *(f"  {line}" for line in lines[-LINES_MAX:]),
    ]


def _item_lines(item: Item) -> list[str]:
    match item:
        case UserSaid():
            return [f"user:  {item.text}{' (overheard)' if item.overheard else ''}"]
        case AgentSaid():
            cut = f" [cut off: {item.unheard}]" if item.interrupted else ""
            calls = [f"       calls {call.name}({call.arguments})" for _, call in item.calls]
            return [*([f"agent: {item.text}{cut}"] if item.text else []), *calls]
        case CallOutput() | News():
            text = item.output if isinstance(item, CallOutput) else item.text
            return [f"       {item.outcome.value}: {text[:200]}"]
        case Note():
            return [f"note:  {item.text}"]


def _move(s: sg.Signal) -> str:
    match s:
        case sg.Transitioned():
            return f"{s.source} → {s.target} ({s.cause})"
        case sg.Failed():
            return f"fault: {s.part.value}: {s.error.value}. {s.hint}"
        case sg.Lost():
            return f"lost: turns {s.first} to {s.last}: {list(s.texts)}"
        case sg.Problem():
            return f"problem: {s.where}: {s.what}"
    return repr(s)

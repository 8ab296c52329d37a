"""What happened in a call, for whoever reads a failed test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duologue.observe import signals as sg
from duologue.ports.history import AgentSaid, CallOutput, Item, News, Note, UserSaid

if TYPE_CHECKING:
    from .call import Call


def tell_story(call: Call) -> str:
    """The words of both sides, then the moves of the conversation."""
    moves = [s for s in call.signals if isinstance(s, sg.Transitioned | sg.Failed | sg.Lost | sg.Problem)]
    lines = ["What was said:", *(f"  {line}" for item in call.history for line in _tell(item))]
    lines += ["What happened:", *(f"  {s.at / 1000:8.3f} s  {_move(s)}" for s in moves[-30:])]
    return "\n".join(lines)


def _tell(item: Item) -> list[str]:
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
            return f"{s.view:12} {s.source} → {s.target} ({s.cause})"
        case sg.Failed():
            return f"fault        {s.part.value}: {s.error.value}. {s.hint}"
        case sg.Lost():
            return f"lost         turns {s.first} to {s.last}: {list(s.texts)}"
        case sg.Problem():
            return f"problem      {s.where}: {s.what}"
    return repr(s)

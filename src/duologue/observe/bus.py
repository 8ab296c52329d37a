"""The event bus: who wants to know gets to know, and can't do harm.

Handlers are called at once, in the order in which they came. Rule: a handler that raises is reported
and everybody else still hears.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any, TypeVar

from .signals import Signal

S = TypeVar("S", bound=Signal)


class Bus:
    """Signals of one conversation, to whoever asked for them."""

    def __init__(self, problem: Callable[[str, BaseException], None]) -> None:
        self._handlers: dict[type[Signal], tuple[Callable[[Any], object], ...]] = {}
        self._problem = problem
        self._reporting = False

    def on(self, kind: type[S], handler: Callable[[S], object]) -> Callable[[], None]:
        """Call this with every signal of a kind (`Signal` for all). Returns what undoes it."""
        if not isinstance(kind, type) or not issubclass(kind, Signal):
            raise TypeError(f"there is no signal {kind!r}: give a class out of duologue.signals")
        if not callable(handler) or iscoroutinefunction(handler):
            raise TypeError("a handler is a plain function: it is called within the step and must not wait")
        self._handlers[kind] = (*self._handlers.get(kind, ()), handler)

        def off() -> None:
            kept = list(self._handlers.get(kind, ()))
            if handler in kept:
                kept.remove(handler)
            self._handlers[kind] = tuple(kept)

        return off

    def wants(self, kind: type[Signal]) -> bool:
        """Is anybody listening? Saves making what nobody hears."""
        return bool(self._handlers.get(kind) or self._handlers.get(Signal))

    def send(self, signal: Signal) -> None:
        for handler in (*self._handlers.get(type(signal), ()), *self._handlers.get(Signal, ())):
            try:
                handler(signal)
            except (Exception, CancelledError) as failure:  # noqa: BLE001 - an observer must not end a conversation
                self._report(signal, failure)

    def _report(self, signal: Signal, failure: BaseException) -> None:
        """An observer of problems that raises at the report of its own is not told again."""
        if self._reporting:
            return
        self._reporting = True
        try:
            self._problem(f"observer of {type(signal).__name__}", failure)
        finally:
            self._reporting = False

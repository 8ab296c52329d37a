"""The event bus: delivers the signals of a conversation to handlers.

Handlers are called immediately, in the order in which they were added. Rule: a handler that raises is
reported, and the other handlers still get the signal.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any, TypeVar

from .signals import Signal

S = TypeVar("S", bound=Signal)


class Bus:
    """Delivers the signals of one conversation. `problem` is called when a handler raises an exception."""

    def __init__(self, problem: Callable[[str, BaseException], None]) -> None:
        self._handlers: dict[type[Signal], tuple[Callable[[Any], object], ...]] = {}
        self._problem = problem
        self._reporting = False

    def on(self, kind: type[S], handler: Callable[[S], object]) -> Callable[[], None]:
        """Call `handler` with every signal of the class `kind`. If `kind` is `Signal`, the handler gets all signals.
        Returns a function that removes the handler."""
        if not isinstance(kind, type) or not issubclass(kind, Signal):
            raise TypeError(f"{kind!r} isn't a kind of signal: pass a class from duologue.signals")
        if not callable(handler) or iscoroutinefunction(handler):
            raise TypeError("a handler must be a plain function, not async: it is called within a step and can't wait")
        self._handlers[kind] = (*self._handlers.get(kind, ()), handler)

        def off() -> None:
            kept = list(self._handlers.get(kind, ()))
            if handler in kept:
                kept.remove(handler)
            self._handlers[kind] = tuple(kept)

        return off

    def wants(self, kind: type[Signal]) -> bool:
        """Is there a handler for signals of this class? If not, the caller needn't create the signal."""
        return bool(self._handlers.get(kind) or self._handlers.get(Signal))

    def send(self, signal: Signal) -> None:
        """Deliver the signal, first to the handlers of its class, then to the handlers of all signals."""
        for handler in (*self._handlers.get(type(signal), ()), *self._handlers.get(Signal, ())):
            try:
                handler(signal)
            except (Exception, CancelledError) as failure:  # noqa: BLE001 - an observer must not end a conversation
                self._report(signal, failure)

    def _report(self, signal: Signal, failure: BaseException) -> None:
        """Report that a handler failed. A failure of the report itself isn't reported, because that could go on
        forever."""
        if self._reporting:
            return
        self._reporting = True
        try:
            self._problem(f"observer of {type(signal).__name__}", failure)
        finally:
            self._reporting = False

"""Shows the failures of a developer's own code in the terminal, with their tracebacks.

Rule: this is for commands that a developer runs. A server in production prints no tracebacks, because they may contain
what a person said.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from duologue.observe.tracebacks import is_own, traceback_of

if TYPE_CHECKING:
    from duologue.runtime.conversation import Conversation
    from duologue.runtime.driver import RaisedFailure


def print_traceback(where: str, failure: BaseException) -> None:
    """Print the traceback of a failure to standard error."""
    err = Console(stderr=True, highlight=False)
    err.print(f"\n[bold red]{escape(where)} failed[/]")
    err.print(escape(traceback_of(failure).text), soft_wrap=True)


def print_own_traceback(failure: BaseException) -> bool:
    """Print the traceback of an exception that a command didn't catch, from the first line of the developer's own code.
    Prints nothing and returns False if no such code was running."""
    place = failure.__traceback__
    while place is not None and not _is_developers(place.tb_frame.f_code.co_filename):
        place = place.tb_next
    if place is not None:
        print_traceback("your code", failure.with_traceback(place))
    return place is not None


def _is_developers(filename: str) -> bool:
    return not is_own(filename) and "site-packages" not in Path(filename).parts


def show_tracebacks(conversation: Conversation) -> None:
    """From now on, print the traceback of every failure of this conversation."""

    def show(raised: RaisedFailure) -> None:
        print_traceback(raised.where, raised.failure)

    conversation.engine.failure_watchers.append(show)

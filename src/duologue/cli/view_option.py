"""The option `--view` of the commands that show a call: the vocabulary in which they name its states.

Rule: without the option, states are named by the phases, the vocabulary that the API, the panel and the metrics use.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from duologue.core.errors import DuologueError
from duologue.core.views import EVERY_VIEW, View

ViewOption: TypeAlias = Annotated[
    str, typer.Option("--view", help=f"Name the states in this vocabulary: {', '.join(EVERY_VIEW)}.")
]


def view_named(name: str) -> View:
    """The view with this name. Raises DuologueError if no view has this name."""
    if name not in EVERY_VIEW:
        raise DuologueError(f"no view is called {name!r}; use one of these with --view: {', '.join(EVERY_VIEW)}")
    return EVERY_VIEW[name]

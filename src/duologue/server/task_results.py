"""The results of a conversation's tasks, such as the reference of a booking.

The form of a task disappears from the screen when the next task begins, but its results stay. Rule: a result is listed
only once, even if its form is shown several times.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from duologue.observe.newest import Newest
from duologue.ports.brain import Form

from .server_messages import ServerMessage, message

RESULTS_MAX = 20
_FIELDS = {"turn": int, "title": str, "slots": list}


class TaskResults:
    """The results of one conversation, oldest first. `earlier` has the results that it brought with it when it moved to
    this node."""

    def __init__(self, earlier: Iterable[dict[str, Any]] = ()) -> None:
        self._results = Newest[dict[str, Any]](RESULTS_MAX, earlier)

    def note(self, form: Form | None, turn: int) -> bool:
        """Note the results of a completed form. `turn` is the newest turn of the user. Returns whether they are new."""
        if form is None or form.state != "completed":
            return False
        slots = [{"label": slot.label, "value": slot.value} for slot in form.slots if slot.state == "result"]
        newest = self._results[-1] if self._results else None
        if not slots or (newest is not None and (newest["title"], newest["slots"]) == (form.title, slots)):
            return False
        self._results.append({"turn": turn, "title": form.title, "slots": slots})
        return True

    def message(self) -> ServerMessage | None:
        """The message with all results; None if there is no result."""
        return message("results", results=self.dump()) if self._results else None

    def dump(self) -> list[dict[str, Any]]:
        return list(self._results)


def read_results(stored: Any) -> tuple[dict[str, Any], ...]:
    """Read results that another node has saved with `dump`. Raises ValueError if they can't be read."""
    if not isinstance(stored, list):
        raise ValueError("the saved results aren't a list")
    for result in stored:
        if not isinstance(result, dict) or set(result) != set(_FIELDS):
            raise ValueError(f"a saved result doesn't have exactly the fields {', '.join(_FIELDS)}")
        if any(type(result[name]) is not kind for name, kind in _FIELDS.items()):
            raise ValueError("a field of a saved result has the wrong type")
        for slot in result["slots"]:
            if not isinstance(slot, dict) or set(slot) != {"label", "value"}:
                raise ValueError("a slot of a saved result isn't a pair of a label and a value")
            if not all(isinstance(text, str) for text in slot.values()):
                raise ValueError("the label or the value of a saved result isn't a text")
    return tuple(stored)

"""Hints that tell the user what to do about a fault, in one or two sentences without credentials.

Rule: every error class has a hint, in every language.
"""

from __future__ import annotations

from duologue.core.leaves import ErrorClass, FaultSource
from duologue.phrases.texts import notice


def hint_code(error: ErrorClass) -> str:
    """The code of the hint text for faults of this class."""
    return f"fault_{error.value.lower()}"


def hint(part: FaultSource, error: ErrorClass, language: str = "en") -> str:
    """The hint for a fault of this class in this part of the agent."""
    return notice(language, hint_code(error), part=part.value)

"""How a language says values: dates, times, durations, and lists.

Rule: this module holds only data. `templates` uses it to put values into words.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ValueForms:
    """The words and forms that a language needs to say values."""

    months: tuple[str, ...]
    date: str  # with {day} and {month}
    date_with_year: str  # with {day}, {month} and {year}
    clock: str  # a time on the hour, with {hour} and, for clocks with 12 hours, {half}
    clock_with_minutes: str  # the same, with {minute}
    has_12_hours: bool
    units: tuple[tuple[str, str], ...]  # one and several: years, months, weeks, days, hours, minutes, seconds
    nights: tuple[str, tuple[str, str]]  # what says nights, as a regular expression; one night and several
    no_time: str  # a duration of zero
    any: str
    none: str  # a text, number or address that the user left out
    yes: str
    no: str
    or_: str
    and_: str
    with_: str  # a part that is wanted, with {label}
    without: str  # a part that isn't wanted, with {label}
    at: str  # the sign in e-mail addresses
    decimal_mark: str
    prompt: str  # asks for a slot that has no prompt of its own, with {label}
    named: str  # a slot's name in the middle of a sentence, with {name}

"""Reads which of the offered values the user picks, after the agent asked which one was meant.

Rule: a reply is read here only if it picks one of the offered values, or some of them but not all.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..language.days import today_of
from ..language.match import Match
from ..language.readings import Ambiguous, Json, Reading, SlotKind
from .choices import find_pointed
from .dates import WEEKDAYS
from .explained_words import covered_by, leftover, objection
from .reply_context import ReplyContext
from .times import find_day_parts, is_in_day_part
from .tokens import span_of
from .yes_no import Polarity, polarity

_ISO_DAY_CHARS = 10


def read_among(c: ReplyContext) -> Reading | None:
    """Reads which of the offered values the user picks: by position, by name, or by part of the day. If the user picks
    several, the result says that the agent has to ask again. None for any other reply."""
    among = c.question.among
    if len(among) == 1 and polarity(c.tokens) is Polarity.YES and not c.places_outside_yes_no():
        return c.as_reading(Match(0, len(c.tokens), among))
    matches = c.find()
    named = [value for match in matches for value in match.candidates]
    chosen = [value for value in among if value in named]
    if c.slot.kind is SlotKind.DATE and not chosen:  # "May 3" takes the year of the candidate
        chosen = [value for value in among if str(value)[4:] in [str(day)[4:] for day in named]]
    if c.slot.kind is SlotKind.DATE and (said := _weekdays_in(c, matches)):
        days = [value for value in among if len(str(value)) == _ISO_DAY_CHARS]
        chosen = [value for value in days if today_of(str(value)).day.weekday() in said]
    if (pointed := find_pointed(c.tokens, len(among))) is not None:
        matches, chosen = [Match(*pointed[1], ())], [among[pointed[0]]]
    elif not matches and c.slot.kind is SlotKind.TIME:
        matches = find_day_parts(c.tokens)
        chosen = [value for value in among if all(is_in_day_part(str(value), match) for match in matches)]
    if matches and (narrowed := _narrowed(c, matches, chosen)) is not None:
        return narrowed
    covered = covered_by(matches)
    if len(chosen) != 1 or not matches or objection(c.tokens, covered) is not None:
        return None
    left = leftover(c.tokens, covered, c.echo)
    return None if left else c.as_reading(Match(matches[0].first, matches[-1].after, (chosen[0],)))


def _weekdays_in(c: ReplyContext, matches: Sequence[Match]) -> set[int]:
    """The weekdays in a reply that names only weekdays: "Tuesday or Wednesday". (The user means the offered days that
    fall on these weekdays.) Empty if any of the matches isn't a single weekday."""
    said = [c.tokens[match.first].word for match in matches if match.after - match.first == 1]
    return {WEEKDAYS[word] for word in said} if len(said) == len(matches) and set(said) <= set(WEEKDAYS) else set()


def _narrowed(c: ReplyContext, matches: Sequence[Match], chosen: list[Json]) -> Reading | None:
    """Reads a reply that picks some of the offered values, but not all: "Tuesday or Wednesday", of five days. The
    result says that the agent has to ask which of them is meant. None for any other reply."""
    covered = covered_by(matches)
    left = [place for place in leftover(c.tokens, covered, c.echo) if c.tokens[place].word != "or"]
    if left or not 1 < len(chosen) < len(c.question.among) or objection(c.tokens, covered) is not None:
        return None
    start, end = span_of(c.tokens, matches[0].first, matches[-1].after)
    return Ambiguous(c.slot.name, tuple(chosen), c.reply[start:end], (start, end), must_ask=True)

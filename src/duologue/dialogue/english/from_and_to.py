"""From and to: does a value belong to the beginning or to the end of a trip or a stay?

A role is "from" (the beginning) or "to" (the end). A slot gets its role from its name ("origin_city", "dropoff_date"),
and a value gets its role from the words before it. Rule: a value with one role never fills a slot with the other role.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..language.match import Match
from ..language.readings import Slot, SlotKind
from .tokens import Token, stem, stems_of

_SLOT_ROLES = {
    "from": "from origin departure depart leaving pickup start begin source sender checkin",
    "to": "to destination arrival arrive dropoff end until return whereto recipient receiver checkout going",
}
# A stay begins with the arrival, but a trip ends with it. So these words don't decide the role of a date.
_COMING, _LEAVING = (frozenset(map(stem, words.split())) for words in ("arrival arrive", "departure depart leaving"))
_ROLE_OF_WORD = {stem(word): role for role, words in _SLOT_ROLES.items() for word in words.split()}
_DAY_ROLES = {"first": "from", "last": "to"}
_PLACE_WORDS = {"from": "from", "to": "to", "into": "to", "towards": "to", "toward": "to"}
_TIME_WORDS = {"from": "from", "starting": "from", "beginning": "from", "since": "from"}
_TIME_WORDS |= {"to": "to", "until": "to", "till": "to", "til": "to", "through": "to"}
_BETWEEN = frozenset("the on a around about at in city of there".split())
_STEPS_MAX = 3
# Things with their own schedule. A time that is said with one of them may not answer the agent's question.
_SCHEDULED = frozenset(
    map(
        stem, "flight plane bus coach train meeting session show performance movie film event dinner lunch meal".split()
    )
)
_OWNED = ("my", "our", "his", "her", "their", "the")
_OF_THINGS = frozenset(
    "is leaves arrives departs lands starts begins ends finishes comes gets goes takes stops leaving arriving".split()
)
# What people do at either end of a trip or a stay. Each set holds the words for one activity.
_ACTIVITIES = tuple(
    frozenset(stem(word) for word in words.split())
    for words in (
        "arrive arriving arrival come coming checkin bethere",
        "leave leaving depart departing departure checkout",
        "return returning back dropoff",
        "pickup",
    )
)
_UNTIL = frozenset("until till til".split())
_STARTS = frozenset(map(stem, "arrival arrive arriving start begin from first since".split()))


def role_of(slot: Slot) -> str | None:
    """The role that a slot has because of its name: "from", "to" or None."""
    words = _words_of(slot)
    ends = _ROLE_OF_WORD
    if slot.kind is SlotKind.DATE:
        words -= _COMING | _LEAVING
        ends = ends | _DAY_ROLES
    roles = {ends[word] for word in words if word in ends}
    return roles.pop() if len(roles) == 1 else None


def _words_of(slot: Slot) -> set[str]:
    """The stems (words without their endings) of the words in a slot's name, each alone and also joined with the next
    word: "check_in" gives "checkin" too."""
    words = slot.name.casefold().split("_")
    return {stem(word) for word in (*words, *(one + other for one, other in pairwise(words)))}


def roles_among(slots: Sequence[Slot]) -> dict[str, str]:
    """The roles of these slots, which all have the same kind, by the names of the slots. A date of arrival is the
    beginning of a stay, but the end of a trip. So if there is only one date of arrival or departure, it gets the role
    that no other slot has: beside "return_date", which is "to", "arrival_date" is "from". If the other slots have
    neither or both of the roles, an arrival is "to" and a departure is "from". If there are several dates of arrival or
    departure, arrivals are "from" and departures are "to"."""
    roles = {slot.name: role for slot in slots if (role := role_of(slot)) is not None}
    free = [slot for slot in slots if slot.name not in roles and _words_of(slot) & (_COMING | _LEAVING)]
    if len(free) > 1:
        return roles | {slot.name: "from" if _words_of(slot) & _COMING else "to" for slot in free}
    for slot in free:
        left = [role for role in _SLOT_ROLES if role not in roles.values()]
        roles[slot.name] = left[0] if len(left) == 1 else "to" if _words_of(slot) & _COMING else "from"
    return roles


def role_said(tokens: Sequence[Token], match: Match, kind: SlotKind) -> str | None:
    """The role that a value has because of the words right before it: "from", "to" or None."""
    words = _TIME_WORDS if kind in (SlotKind.DATE, SlotKind.TIME) else _PLACE_WORDS
    for place in range(match.first - 1, max(-1, match.first - 1 - _STEPS_MAX), -1):
        word = tokens[place].word
        if word in words:
            return words[word]
        if word not in _BETWEEN:
            return None
    return None


def activity_said(tokens: Sequence[Token], match: Match) -> frozenset[str]:
    """The activity that is named right before a day or hour ("leaving on the 22nd"), as one of the sets in _ACTIVITIES.
    Empty if no activity is named."""
    for place in range(match.first - 1, max(-1, match.first - 1 - _STEPS_MAX), -1):
        if tokens[place + 1].pause:
            return frozenset()
        done = stem(tokens[place].word)
        said = {done, stem(done + tokens[place + 1].word)}  # "checking in", "be there"
        if found := next((doing for doing in _ACTIVITIES if doing & said), None):
            return found
        if tokens[place].word not in _BETWEEN:
            return frozenset()
    return frozenset()


def activity_of(slot: Slot) -> frozenset[str]:
    """The activity that the name of a date or time slot stands for, as one of the sets in _ACTIVITIES. The name
    "checkin_date" stands for arriving, so the set is the one with the stems of "checkin", "arrive" and "come". Empty if
    the name stands for no activity ("date") or for several ("pickup_return_date")."""
    doings = [doing for doing in _ACTIVITIES if doing & _words_of(slot)]
    return doings[0] if len(doings) == 1 and slot.kind in (SlotKind.DATE, SlotKind.TIME) else frozenset()


def belongs_to_other_thing(tokens: Sequence[Token], match: Match, echo: frozenset[str]) -> bool:
    """Is the value the time of something that the agent didn't ask about? Example: "my flight leaves at seven", when
    the user books a taxi."""
    for place in range(match.first - 1, 0, -1):
        if tokens[place].word in _OF_THINGS and not tokens[place].pause:
            thing = stem(tokens[place - 1].word)
            owned = place > 1 and tokens[place - 2].word in _OWNED
            if owned and thing in _SCHEDULED and thing not in echo:
                return True
    return False


def contradicts(tokens: Sequence[Token], match: Match, slot: Slot) -> bool:
    """Does the value belong to a different activity than the slot, or to the other end of the trip or stay? Examples:
    "arriving on Monday" for a departure date, "until Monday" for a start date."""
    if slot.kind not in (SlotKind.DATE, SlotKind.TIME, SlotKind.NAME, SlotKind.TEXT):
        return False
    is_until = slot.kind is SlotKind.DATE and match.first > 0 and tokens[match.first - 1].word in _UNTIL
    if is_until and stems_of(slot.name.replace("_", " ")) & _STARTS:
        return True
    doing, done = activity_of(slot), activity_said(tokens, match)
    if doing and done:
        return doing is not done
    mine, said = role_of(slot), role_said(tokens, match, slot.kind)
    return mine is not None and said is not None and mine != said

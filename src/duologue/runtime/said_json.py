"""The words of the user's turns as JSON values, for checkpoints.

Rule: everything that is read is checked. Data from earlier versions, which stored texts and marks in separate lists,
can be read too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from duologue.hearing.words import SaidTurn, TurnMark

from .checkpoint import NotRestorable
from .validation import number, pairs, text, whole


def said_to_json(said: SaidTurn) -> list[Any]:
    pieces = [list(piece) for piece in said.pieces]
    finals = [list(final) for final in said.finals]
    asked = [said.given, said.given_in, said.handled, said.gist, said.typed_at, said.is_blind]
    return [said.turn, pieces, said.confidence, finals, said.mark.value, *asked]


def said_from_json(data: Any) -> tuple[SaidTurn, ...]:
    """The words of turns, in the order of the turns. Raises NotRestorable, TypeError or ValueError for invalid data."""
    return tuple(sorted(_turn(*entry) for entry in data))


def _turn(turn: Any, pieces: Any, confidence: Any, finals: Any, mark: Any, *asked: Any) -> SaidTurn:
    given, given_in, handled, *counts = asked
    gist, typed_at, is_blind = [*counts, 0, 0, False][: max(3, len(counts))]  # earlier versions had none
    return SaidTurn(
        whole(turn),
        _pieces(pieces),
        number(confidence),
        tuple((text(final), whole(content)) for final, content in pairs(finals)),
        TurnMark(mark),
        text(given),
        whole(given_in),
        text(handled),
        whole(gist),
        whole(typed_at),
        bool(is_blind),
    )


def _pieces(data: Any) -> tuple[tuple[int, str], ...]:
    """The texts of one turn, each with the number of its utterance. Typed texts have the numbers -1, -2 and so on."""
    if any(type(utterance) is not int for utterance, _ in pairs(data)):
        raise NotRestorable("the transcript has an utterance without a number")
    return tuple((utterance, text(said)) for utterance, said in pairs(data))


def said_from_old_json(data: Any) -> tuple[SaidTurn, ...]:
    """The words of turns, read from data that an earlier version of Duologue wrote."""
    confidence = {whole(turn): number(value) for turn, value in pairs(data.get("confidence", []))}
    overheard = set(map(whole, data.get("overheard", [])))
    requested = set(map(whole, data.get("requested", [])))
    finals: dict[int, list[tuple[str, int]]] = {}
    for key, content in pairs(data.get("known", [])):
        turn, _, final = text(key).partition(":")
        finals.setdefault(int(turn), []).append((final, whole(content)))
    return tuple(
        _old(turn, pieces, confidence, overheard, requested, finals.get(turn, []))
        for turn, pieces in sorted((whole(turn), _pieces(said)) for turn, said in pairs(data.get("texts", [])))
    )


def _old(
    turn: int,
    pieces: tuple[tuple[int, str], ...],
    confidence: dict[int, float],
    overheard: set[int],
    requested: set[int],
    finals: Iterable[tuple[str, int]],
) -> SaidTurn:
    mark = TurnMark.OVERHEARD if turn in overheard else TurnMark.NONE
    said = SaidTurn(turn, pieces, confidence.get(turn, 1.0), tuple(finals), mark)
    return said._replace(given=said.text) if turn in requested else said

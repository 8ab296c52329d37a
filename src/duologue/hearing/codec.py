"""Converts the hearing machine's inputs, words and policies to JSON values and back, for ear journals.

Rule: everything that is read is checked, and an error says what is wrong. Numbers are read back exactly as they were
written.
"""

from __future__ import annotations

import base64
import struct
from dataclasses import fields
from typing import Any

from duologue.core.errors import InvalidSnapshot
from duologue.ports.ears import Final, Heard, Partial, Pause, SpeechBegan, SpeechEnded, TurnOver, VoiceFrame
from duologue.turns.completeness import Completeness
from duologue.turns.controller import TurnSettings
from duologue.turns.endpoint import (
    CombinedEndpoint,
    EasyTurnEndpoint,
    FixedSilence,
    ManualEndpoint,
    SemanticEndpoint,
    ServerEndpoint,
)
from duologue.turns.features import LevelShape, PauseFeatures
from duologue.turns.overlap import OverlapRule
from duologue.turns.own_speech import SpokenWord

from . import inputs as inp
from .policy import HearingPolicy
from .words import SaidTurn, SaidWords, TurnMark

_REPORTS = {kind.__name__: kind for kind in (SpeechBegan, SpeechEnded, VoiceFrame, Pause, Partial, Final, TurnOver)}
_INPUTS = {
    kind.__name__: kind
    for kind in (
        inp.EarsStopped,
        inp.ButtonPressed,
        inp.ButtonReleased,
        inp.Typed,
        inp.AgentSpoke,
        inp.AgentAsks,
        inp.HeardLate,
        inp.TextJudged,
        inp.Woke,
    )
}
_POLICIES = {
    kind.__name__: kind
    for kind in (
        HearingPolicy,
        CombinedEndpoint,
        EasyTurnEndpoint,
        FixedSilence,
        ManualEndpoint,
        SemanticEndpoint,
        ServerEndpoint,
        OverlapRule,
        TurnSettings,
    )
}
_PLAIN = (bool, int, float, str, type(None))
# Which types of JSON values a field may have, by its annotation. Fields of other types are read by functions below.
_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "str": (str,),
    "bool": (bool,),
    "int | None": (int, type(None)),
    "float | None": (float, int, type(None)),
    "str | None": (str, type(None)),
}


# -- Inputs


def input_to_json(i: inp.Input) -> dict[str, Any]:
    """This input as JSON values. Raises TypeError for CoreStepped, which is never written, because a replay makes it
    from the journal of events."""
    match i:
        case inp.Reported(at=at, heard=heard):
            return {"at": at, "heard": type(heard).__name__, **_fields(heard)}
        case inp.CoreStepped():
            raise TypeError("CoreStepped isn't written to an ear journal")
        case inp.AgentSpoke(at=at, words=words, question=question):
            spoken = [[word.text, word.start_ms, word.end_ms] for word in words]
            return {"at": at, "input": "AgentSpoke", "words": spoken, "question": question and list(question)}
    return {"input": type(i).__name__, **_fields(i)}


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a report or an input that differ from their defaults."""
    given = {one.name: getattr(value, one.name) for one in fields(value) if getattr(value, one.name) != one.default}
    if isinstance(value, Pause):
        given["features"] = _features_to_json(value.features)
    return given


def input_from_json(data: Any) -> inp.Input:
    """The input in this JSON data. Raises InvalidSnapshot, whose message says what is wrong."""
    if not isinstance(data, dict) or type(data.get("at")) is not int or data["at"] < 0:
        raise InvalidSnapshot("the input is invalid: it needs a time `at` in whole milliseconds")
    given = dict(data)
    try:
        if "heard" in given:
            at, name = given.pop("at"), given.pop("heard")
            return inp.Reported(at, _report(name, given))
        name = given.pop("input", None)
        if name not in _INPUTS:
            raise InvalidSnapshot(f"unknown input {name!r}")
        if name == "AgentSpoke":
            given["words"] = tuple(_spoken(*word) for word in given["words"])
        if name == "TextJudged":
            given["completeness"] = Completeness(given["completeness"])
        if "calls" in given:
            given["calls"] = tuple(map(_whole, given["calls"]))
        if given.get("question") is not None:
            given["question"] = _question(*given["question"])
        made: inp.Input = _make(_INPUTS[name], given)
    except (TypeError, ValueError, KeyError, struct.error) as error:
        raise InvalidSnapshot(f"{data.get('heard') or data.get('input')}: {error}") from None
    return made


def _spoken(text: Any, start_ms: Any, end_ms: Any) -> SpokenWord:
    return SpokenWord(_text(text), _whole(start_ms), _whole(end_ms))


def _question(*times: Any) -> inp.QuestionSpan:
    return inp.QuestionSpan(*map(_whole, times))


def _report(name: Any, given: dict[str, Any]) -> Heard:
    if name not in _REPORTS:
        raise InvalidSnapshot(f"unknown report {name!r}")
    if name == "Pause":
        given["features"] = _features_from_json(given["features"])
    made: Heard = _make(_REPORTS[name], given)
    return made


def _make(kind: type[Any], given: dict[str, Any]) -> Any:
    """An object of the class `kind` with these fields. Raises TypeError if a field is unknown or missing, or if its
    value has the wrong type."""
    for one in fields(kind):
        known = _TYPES.get(str(one.type))
        if known is not None and one.name in given and type(given[one.name]) not in known:
            raise TypeError(f"`{one.name}` must be {one.type}, not {given[one.name]!r}")
    return kind(**given)


# -- Features of a pause. The embedding has hundreds of numbers of single precision, so it is packed.


def _features_to_json(features: PauseFeatures) -> dict[str, Any]:
    data = _fields(features)
    if features.shape is not None:
        data["shape"] = {one.name: getattr(features.shape, one.name) for one in fields(features.shape)}
    if features.turn_embedding:
        packed = _packed(features.turn_embedding)
        data["turn_embedding"] = list(features.turn_embedding) if packed is None else base64.b64encode(packed).decode()
    return data


def _packed(embedding: tuple[float, ...]) -> bytes | None:
    """These numbers as bytes in single precision; None if single precision would change a number."""
    form = f"<{len(embedding)}f"
    try:
        packed = struct.pack(form, *embedding)
    except OverflowError:
        return None
    return packed if struct.unpack(form, packed) == embedding else None


def _features_from_json(data: dict[str, Any]) -> PauseFeatures:
    given = dict(data)
    if given.get("shape") is not None:
        given["shape"] = _make(LevelShape, given["shape"])
    embedding = given.get("turn_embedding")
    if isinstance(embedding, str):
        packed = base64.b64decode(embedding, validate=True)
        given["turn_embedding"] = struct.unpack(f"<{len(packed) // 4}f", packed)
    elif embedding is not None:
        given["turn_embedding"] = tuple(embedding)
    made: PauseFeatures = _make(PauseFeatures, given)
    return made


# -- SaidWords


def words_to_json(words: SaidWords) -> dict[str, Any]:
    turns = [[*said._replace(mark=said.mark.value)] for said in words.turns]  # type: ignore[arg-type]
    return {"turns": turns, "content": words.content, "typed": [list(one) for one in words.typed], "blind": words.blind}


def words_from_json(data: Any) -> SaidWords:
    """The words in this JSON data. Raises InvalidSnapshot if the data is invalid."""
    try:
        turns = tuple(_turn(*entry) for entry in data["turns"])
        typed = tuple((_whole(content), _text(text)) for content, text in data["typed"])
        return SaidWords(turns, _whole(data["content"]), typed, _whole(data.get("blind", 0)))
    except (TypeError, ValueError, KeyError) as error:
        raise InvalidSnapshot(f"words: {error}") from None


def _turn(turn: Any, pieces: Any, confidence: Any, finals: Any, mark: Any, *asked: Any) -> SaidTurn:
    given, given_in, handled, *counts = asked
    gist, typed_at, is_blind = [*counts, 0, 0, False][: max(3, len(counts))]  # earlier versions had none
    if type(confidence) not in (int, float):
        raise TypeError(f"the confidence {confidence!r} isn't a number")
    return SaidTurn(
        _whole(turn),
        tuple((_whole(serial), _text(text)) for serial, text in pieces),
        confidence,
        tuple((_text(text), _whole(content)) for text, content in finals),
        TurnMark(mark),
        _text(given),
        _whole(given_in),
        _text(handled),
        _whole(gist),
        _whole(typed_at),
        bool(is_blind),
    )


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} isn't a whole number")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError(f"{value!r} isn't a text")
    return value


# -- Policies


def policy_to_json(policy: Any) -> dict[str, Any]:
    """A policy as JSON values: the name of its class, and its fields. If the class isn't part of Duologue, the fields
    are left out."""
    name = type(policy).__name__
    if _POLICIES.get(name) is not type(policy):
        return {"policy": name, "own": False}
    data: dict[str, Any] = {"policy": name}
    for one in fields(policy):
        value = getattr(policy, one.name)
        data[one.name] = value if isinstance(value, _PLAIN) else policy_to_json(value)
    return data


def policy_from_json(data: Any) -> Any:
    """The policy in this JSON data. Raises InvalidSnapshot if its class isn't part of Duologue, or if a field is
    invalid."""
    name = data.get("policy") if isinstance(data, dict) else None
    if name not in _POLICIES or data.get("own") is False:
        raise InvalidSnapshot(f"the policy {name!r} isn't part of Duologue: pass the same policy again")
    given = {key: policy_from_json(value) if isinstance(value, dict) else value for key, value in data.items()}
    del given["policy"]
    try:
        return _make(_POLICIES[name], given)
    except (TypeError, ValueError) as error:
        raise InvalidSnapshot(f"{name}: {error}") from None

"""Inputs, words and policies as JSON come back exactly, and what is wrong is refused with its reason."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from duologue.core.codec import canonical
from duologue.core.errors import InvalidSnapshot
from duologue.core.events import SpeechStopped
from duologue.core.settings import profile
from duologue.core.state import initial
from duologue.core.step_record import StepRecord
from duologue.hearing import inputs as inp
from duologue.hearing.codec import (
    input_from_json,
    input_to_json,
    policy_from_json,
    policy_to_json,
    words_from_json,
    words_to_json,
)
from duologue.hearing.policy import HearingPolicy
from duologue.hearing.words import SaidTurn, SaidWords, TurnMark
from duologue.ports.ears import Final, Partial, Pause, SpeechBegan, SpeechEnded, TurnOver, VoiceFrame
from duologue.turns.completeness import Completeness
from duologue.turns.controller import PRESETS
from duologue.turns.endpoint import CombinedEndpoint, EasyTurnEndpoint, FixedSilence, ManualEndpoint, ServerEndpoint
from duologue.turns.features import LevelShape, PauseFeatures
from duologue.turns.overlap import OVERLAP_RULES
from duologue.turns.own_speech import SpokenWord

times = st.integers(0, 10**9)
numbers = st.integers(0, 10**6)
fractions = st.floats(0, 1)
finite = st.floats(allow_nan=False, allow_infinity=False)
single = finite.map(lambda value: struct.unpack("<f", struct.pack("<f", value % 1_000))[0])
shapes = st.builds(LevelShape, finite, finite, finite, finite)
features = st.builds(
    PauseFeatures,
    numbers,
    st.none() | finite,
    st.none() | numbers,
    st.none() | shapes,
    st.none() | finite,
    st.lists(single, max_size=8).map(tuple) | st.lists(finite, max_size=4).map(tuple),
    st.none() | st.text(),
    st.none() | fractions,
    st.none() | fractions,
)
reports = st.one_of(
    st.builds(SpeechBegan, numbers),
    st.builds(SpeechEnded, numbers, numbers),
    st.builds(VoiceFrame, fractions, finite, numbers, numbers, numbers),
    st.builds(Pause, features, numbers, numbers),
    st.builds(Partial, st.text(), fractions, numbers, st.none() | fractions),
    st.builds(Final, st.text(), fractions, numbers, st.none() | fractions),
    st.builds(TurnOver, numbers),
)
spoken = st.lists(st.builds(SpokenWord, st.text(), numbers, numbers), max_size=4).map(tuple)
questions = st.none() | st.builds(inp.QuestionSpan, numbers, numbers, numbers)
inputs = st.one_of(
    st.builds(inp.Reported, times, reports),
    *(st.builds(kind, times) for kind in (inp.EarsStopped, inp.ButtonPressed, inp.ButtonReleased, inp.Woke)),
    st.builds(inp.Typed, times, st.text()),
    st.builds(inp.AgentSpoke, times, spoken, questions),
    st.builds(inp.AgentAsks, times, numbers, st.lists(numbers, max_size=3).map(tuple), st.booleans()),
    st.builds(inp.HeardLate, times, numbers),
    st.builds(inp.TextJudged, times, numbers, numbers, st.sampled_from(Completeness)),
)


@given(inputs)
@example(inp.Reported(0, Pause(PauseFeatures(0, None, None, None, None, (3.5e38,), None, None, None), 0, 0)))
def test_every_input_comes_back_exactly(i: inp.Input) -> None:
    assert input_from_json(json.loads(canonical(input_to_json(i)))) == i


turns = st.builds(
    SaidTurn,
    numbers,
    st.lists(st.tuples(st.integers(-9, 99), st.text()), max_size=3).map(tuple),
    fractions,
    st.lists(st.tuples(st.text(), numbers), max_size=3).map(tuple),
    st.sampled_from(TurnMark),
    st.text(),
    numbers,
    st.text(),
)
words = st.builds(
    SaidWords,
    st.lists(turns, max_size=3).map(tuple),
    numbers,
    st.lists(st.tuples(numbers, st.text()), max_size=3).map(tuple),
)


@given(words)
def test_words_come_back_exactly(said: SaidWords) -> None:
    assert words_from_json(json.loads(canonical(words_to_json(said)))) == said


@pytest.mark.parametrize("overlap", OVERLAP_RULES.values())
@pytest.mark.parametrize(
    "endpoint",
    [
        CombinedEndpoint(),
        FixedSilence(650),
        ManualEndpoint(),
        ServerEndpoint(None),
        EasyTurnEndpoint(PRESETS["balanced"]),
    ],
)
def test_policies_come_back_exactly(endpoint: Any, overlap: Any) -> None:
    policy = HearingPolicy(endpoint, overlap, "de", 5_000)
    assert policy_from_json(json.loads(canonical(policy_to_json(policy)))) == policy


class FixedSilenceOfMine:
    """A policy that isn't part of Duologue."""


def test_of_a_policy_of_another_program_only_the_name_is_written_and_it_is_not_read() -> None:
    data = policy_to_json(FixedSilenceOfMine())
    assert data == {"policy": "FixedSilenceOfMine", "own": False}
    with pytest.raises(InvalidSnapshot, match="isn't part of Duologue: pass the same policy again"):
        policy_from_json(data)


def test_a_step_of_the_conversation_is_not_written() -> None:
    s = initial(profile("confirm"))
    with pytest.raises(TypeError):
        input_to_json(inp.CoreStepped(0, StepRecord(SpeechStopped(0, 1), s, s, (), ())))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (None, "needs a time"),
        ({"at": -1, "input": "Woke"}, "needs a time"),
        ({"at": True, "input": "Woke"}, "needs a time"),
        ({"at": 1.5, "input": "Woke"}, "needs a time"),
        ({"at": 1, "input": "Dreamt"}, "unknown input 'Dreamt'"),
        ({"at": 1, "heard": "Dream"}, "unknown report 'Dream'"),
        ({"at": 1, "heard": "Partial", "text": 5}, "Partial: `text` must be str, not 5"),
        ({"at": 1, "heard": "Final", "text": "a", "confidence": "sure"}, "Final: `confidence` must be float"),
        ({"at": 1, "heard": "SpeechBegan", "utterance": True}, "SpeechBegan: `utterance` must be int"),
        ({"at": 1, "heard": "SpeechBegan", "colour": 1}, "SpeechBegan: .*colour"),
        ({"at": 1, "heard": "Pause", "quiet_ms": 1}, "Pause: 'features'"),
        ({"at": 1, "heard": "Pause", "quiet_ms": 1, "features": {"turn_embedding": "#"}}, "Pause: "),
        ({"at": 1, "heard": "Pause", "quiet_ms": 1, "features": {"voiced_ms": "x"}}, "Pause: `voiced_ms` must be int"),
        ({"at": 1, "input": "Typed"}, "Typed: .*text"),
        ({"at": 1, "input": "AgentSpoke", "words": [["a", 1]], "question": None}, "AgentSpoke: "),
        ({"at": 1, "input": "AgentSpoke", "words": [[1, 1, 2]], "question": None}, "AgentSpoke: 1 isn't a text"),
        ({"at": 1, "input": "AgentSpoke", "words": [], "question": ["x", 1]}, "AgentSpoke: 'x' isn't a whole number"),
    ],
)
def test_a_wrong_input_is_refused_with_its_reason(data: Any, says: str) -> None:
    with pytest.raises(InvalidSnapshot, match=says):
        input_from_json(data)


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"turns": [[1]], "content": 0, "typed": []},
        {"turns": [], "content": "x", "typed": []},
        {"turns": [], "content": 0, "typed": [[1, 2]]},
        {"turns": [[1, [], 1.0, [], "gone", "", 0, ""]], "content": 0, "typed": []},
        {"turns": [[1, [], "sure", [], "", "", 0, ""]], "content": 0, "typed": []},
    ],
)
def test_wrong_words_are_refused(data: Any) -> None:
    with pytest.raises(InvalidSnapshot, match="words: "):
        words_from_json(data)


@pytest.mark.parametrize("silence", ["long", 1.5, None])
def test_a_policy_with_a_wrong_number_is_refused(silence: Any) -> None:
    with pytest.raises(InvalidSnapshot, match="FixedSilence: `silence_ms` must be int"):
        policy_from_json({"policy": "FixedSilence", "silence_ms": silence})

"""A redacted ear journal has no words, and still replays."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.hearing.codec import words_to_json
from duologue.hearing.words import SaidTurn, SaidWords
from duologue.lab.sim.population import play_call
from duologue.observe.recorder import ears_path
from duologue.replay.ears_file import read_ears, replay_ears
from duologue.replay.journal import read_journal, replay
from duologue.replay.redact import Redactor, redact_ears
from duologue.turns.words import count

KEY = b"sixteen letters."
TEXTS = ["I want two tickets to Rome", "yes", "yeah, of course", "um I mean", "no that's not right", "a 4K one", ""]


@pytest.mark.req("C-SEC-002")
@pytest.mark.parametrize("text", TEXTS)
def test_no_word_of_a_text_is_left_and_the_counts_stay(text: str) -> None:
    made = Redactor("en", KEY).text("1", text)
    assert len(made) == len(text)
    assert count(made)[:2] == count(text)[:2]
    kept = set(re.findall(r"\w{2,}", text.lower())) & set(re.findall(r"\w{2,}", made))
    assert kept <= {"um"}


@pytest.mark.parametrize(
    ("language", "text"), [("de", "ja genau das Ticket"), ("ja", "はい東京です"), ("fr", "d'accord merci")]
)
def test_other_languages_keep_their_counts(language: str, text: str) -> None:
    made = Redactor(language, KEY).text("1", text)
    assert made != text
    assert count(made, language)[:2] == count(text, language)[:2]


def test_a_growing_text_keeps_its_beginning_and_another_utterance_gets_other_signs() -> None:
    redactor = Redactor("en", KEY)
    whole = redactor.text("1", "tickets to Rome")
    assert whole.startswith(redactor.text("1", "tickets to"))
    assert redactor.text("2", "tickets to Rome") != whole
    assert Redactor("en", b"another key").text("1", "tickets to Rome") != whole


def test_the_same_word_twice_has_two_placeholders() -> None:
    first, second = Redactor("en", KEY).text("1", "seventeen seventeen").split()
    assert first != second


def test_both_readings_of_a_final_text_are_redacted() -> None:
    line = {"heard": "Final", "utterance": 1, "text": "To Rome.", "first_text": "To room"}
    redacted = Redactor("en", KEY).line(line)
    assert not {"Rome", "room", "To"} & set(re.findall(r"\w+", f"{redacted['text']} {redacted['first_text']}"))


@given(st.text(max_size=40))
def test_any_text_has_a_redacted_form_of_the_same_length(text: str) -> None:
    assert len(Redactor("en", KEY).text("1", text)) == len(text)


def test_the_words_of_a_conversation_that_was_taken_over_agree_with_each_other() -> None:
    said = SaidTurn(
        3, ((1, "two tickets"), (2, "to Rome")), 0.9, (("two tickets to Rome", 4),), given="two tickets to Rome"
    )
    data = Redactor("en", KEY).header({"words": words_to_json(SaidWords((said,), 4, ((5, "hello there"),)))})
    ((_, pieces, _, finals, _, given, _, handled, *_),) = data["words"]["turns"]
    whole = " ".join(text for _, text in pieces)
    assert finals == [(whole, 4)] or finals == ((whole, 4),)
    assert (given, handled) == (whole, "")
    assert "Rome" not in str(data)
    assert "hello" not in str(data)
    assert data["redacted"] is True


@pytest.mark.parametrize("seed", range(6))
def test_a_redacted_call_replays(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "call.jsonl"
    play_call(seed, 0, seed % 2 == 1, journal=path)
    lines = ears_path(path).read_text("utf-8").splitlines(keepends=True)
    redacted = list(redact_ears(lines, KEY))
    assert len(redacted) == len(lines)
    ears, journal = read_ears(redacted), read_journal(path.read_text("utf-8").splitlines(keepends=True))
    assert ears.is_redacted
    made = list(replay_ears(ears, journal.first, list(replay(journal))))
    assert sum(one.unverified for one in made) * 10 <= len(made)

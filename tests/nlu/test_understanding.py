"""Scopes and answers as values."""

from __future__ import annotations

import subprocess
import sys

import pytest

from duologue.nlu import Guess, Intent, MessageScope, Understanding
from duologue.nlu.understanding import CHARS_MAX, shortened


def test_an_intent_is_also_what_it_is_called() -> None:
    assert Intent("book_table", ("a table",)).phrases == ("a table", "book table")
    assert Intent("BookTable", description="Get a table").phrases == ("Get a table", "Book Table")
    assert Intent("reverted_card_payment?").phrases == ("reverted card payment",)


def test_a_title_says_in_words_what_an_id_does_not() -> None:
    assert Intent("task 7", ("a table",), title="book_table").phrases == ("a table", "book table")


def test_an_intent_always_has_a_phrase() -> None:
    assert Intent("___", ("", "  ")).phrases == ("___",)


def test_two_intents_of_one_name_are_a_mistake() -> None:
    with pytest.raises(AssertionError):
        MessageScope((Intent("menu"), Intent("menu", ("what is there",))))


def test_nothing_is_meant_by_what_is_out_of_scope() -> None:
    unsure = Understanding((Guess("menu", 0.3),), is_in_scope=False, in_scope=0.4)
    assert (unsure.intent, unsure.confidence) == (None, 0.3)
    assert (Understanding().intent, Understanding().confidence) == (None, 0.0)


def test_a_long_message_keeps_both_ends() -> None:
    long = "cancel " + "blah " * 30_000 + "my booking"
    assert len(shortened(long)) <= CHARS_MAX + 1
    assert shortened(long).startswith("cancel ")
    assert shortened(long).endswith(" my booking")
    assert shortened("short") == "short"


def test_importing_loads_neither_numpy_nor_a_client() -> None:
    code = (
        "import sys, duologue.nlu, duologue.nlu.llm, duologue.nlu.cached; duologue.nlu.LocalNlu();"
        "sys.exit(str(loaded) if (loaded := {'numpy', 'openai', 'onnxruntime'} & set(sys.modules)) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

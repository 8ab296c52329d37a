"""Every text can be replaced one by one, and what can't work is a line that says what to write."""

from __future__ import annotations

import pytest

from duologue.phrases.overrides import Phrases
from duologue.phrases.texts import LANGUAGES, SHOWN, SPOKEN, label, notice, phrase, texts_in


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_texts_of_your_own_all_are_those_of_the_language(language: str) -> None:
    own = Phrases()
    assert own.problems() == []
    assert [own.say(language, code, 1) for code in SPOKEN] == [phrase(language, code, 1) for code in SPOKEN]
    assert own.label(language, "muted") == label(language, "muted")
    assert own.notice(language, "lost", said="x") == notice(language, "lost", said="x")


@pytest.mark.parametrize("code", SPOKEN)
def test_each_spoken_text_can_be_replaced_alone(code: str) -> None:
    own = Phrases(spoken={code: "Mine."})
    assert own.problems() == []
    assert [own.say("de", code, number) for number in range(3)] == ["Mine."] * 3
    assert [other for other in SPOKEN if own.say("de", other, 0) != phrase("de", other, 0)] == [code]


@pytest.mark.parametrize("code", SHOWN)
def test_each_label_and_notice_can_be_replaced_alone(code: str) -> None:
    own = Phrases(shown={code: "Mine"})
    assert own.problems() == []
    labels = texts_in("fr").labels
    shown = {key: (own.label if key in labels else own.notice)("fr", key) for key in SHOWN}
    assert shown[code] == "Mine"
    assert [key for key in labels if shown[key] != labels[key]] == ([code] if code in labels else [])


def test_several_texts_take_turns() -> None:
    own = Phrases(check_ins=("One?", "Two?"), spoken={"working": ("a.", "b.", "c.")})
    assert [own.say("en", "check_in", number) for number in range(4)] == ["One?", "Two?", "One?", "Two?"]
    assert [own.say("en", "working", number) for number in range(4)] == ["a.", "b.", "c.", "a."]


def test_an_empty_text_says_nothing() -> None:
    own = Phrases(check_ins=(), goodbye="", broken_off="", spoken={"working": "", "yes": ()})
    assert own.problems() == []
    assert {own.say("en", code, 1) for code in ("check_in", "goodbye", "broken_off", "working", "yes")} == {""}


def test_fields_are_filled_in() -> None:
    own = Phrases(spoken={"tool_running": "{tool} runs."}, shown={"fault_unknown": "{part}!", "lost": "Lost: {said}"})
    assert own.problems() == []
    assert own.say("en", "tool_running", 0, tool="The search") == "The search runs."
    assert own.notice("de", "fault_unknown", part="voice") == "Die Sprachausgabe!"
    assert own.notice("de", "lost", said="ein Tisch") == "Lost: ein Tisch"


@pytest.mark.parametrize(
    ("own", "line"),
    [
        (Phrases(spoken={"workin": "x"}), "phrases.spoken['workin']: unknown code: did you mean 'working'?"),
        (Phrases(shown={"listenin": "x"}), "phrases.shown['listenin']: unknown code: did you mean 'listening'?"),
        (Phrases(spoken={"listening": "x"}), "phrases.spoken['listening']: unknown code"),
        (Phrases(goodbye="Bye {nme}"), "phrases.goodbye: unknown field {nme}: it has no fields"),
        (Phrases(greeting="Hello {user}"), "phrases.greeting: unknown field {user}: it has no fields"),
        (Phrases(check_ins=("Hm?", "{x}?")), "phrases.check_ins: unknown field {x}: it has no fields"),
        (Phrases(spoken={"tool_running": "{job}"}), "unknown field {job}: it has {tool}"),
        (Phrases(spoken={"tool_running": "{tool!r}"}), "unknown field {tool!r}: it has {tool}"),
        (Phrases(spoken={"tool_running": "{tool.__class__}"}), "unknown field {tool.__class__}: it has {tool}"),
        (Phrases(spoken={"yes": "a { b"}), "phrases.spoken['yes']: 'a { b' can't be read"),
        (Phrases(spoken={"yes": 7}), "phrases.spoken['yes'] must be a text or a tuple of texts, not 7"),  # type: ignore[dict-item]
        (Phrases(shown={"paused": " "}), "phrases.shown['paused'] must be a text that isn't empty, not ' '"),
        (Phrases(goodbye="Bye.", spoken={"goodbye": "Bye!"}), "both given: remove one"),
        (Phrases(check_ins="Hello?"), "phrases.check_ins must be a tuple of texts"),  # type: ignore[arg-type]
        (Phrases(spoken=["working"]), "phrases.spoken and phrases.shown must be dicts"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_what_cannot_work_is_said_in_one_line(own: Phrases, line: str) -> None:
    (problem,) = own.problems()
    assert line in problem


def test_all_problems_are_listed_at_once() -> None:
    assert len(Phrases(goodbye="{a}", spoken={"x": "y", "yes": "{b}"}, shown={"z": "t"}).problems()) == 4


def test_phrases_are_a_value() -> None:
    assert Phrases(spoken={"yes": "Yes?"}) == Phrases(spoken={"yes": "Yes?"}) != Phrases()
    assert hash(Phrases(spoken={"yes": "Yes?"})) == hash(Phrases(spoken={"yes": "Yes?"}))

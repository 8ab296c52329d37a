"""Labels exist in every language and are never empty."""

from __future__ import annotations

import pytest

from duologue import Agent, ToolCall
from duologue.core.views import PHASES
from duologue.observe import signals as sg
from duologue.observe.labels import LABELS, LANGUAGES, WAITS, label
from duologue.testing import Call, Delay, Progress, ScriptedBrain, scripted_tool


@pytest.mark.req("C-INT-003")
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_key(language: str) -> None:
    texts = LABELS[language]
    assert set(texts) >= {*PHASES, *WAITS}
    assert all(text.strip() == text != "" for text in texts.values())
    assert len(set(texts.values())) == len(texts), "two keys that read the same can't be told apart"


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_a_translation_differs_from_english(language: str) -> None:
    assert not set(LABELS[language].values()) & set(LABELS["en"].values())


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Listening"),
        ("pt-BR", "Ouvindo"),
        ("cmn-Hans-CN", "正在聆听"),
        ("de", "Ich höre zu"),
        ("de-AT", "Ich höre zu"),
        ("DE-at", "Ich höre zu"),
        ("fr-CA", "J'écoute"),
        ("ja-JP", "聞いています"),
        ("tlh", "Listening"),
        ("tlh-Latn", "Listening"),
        ("", "Listening"),
    ],
)
def test_a_region_gets_its_language_and_an_unknown_language_gets_english(language: str, text: str) -> None:
    assert label("listening", language) == text


def test_english_is_the_default() -> None:
    assert label("speaking") == "Speaking"


def test_an_unknown_key_is_shown_as_it_is() -> None:
    assert label("meditating", "de") == "meditating"


# -- In a call


@pytest.mark.req("C-INT-003")
def test_every_change_of_state_is_signalled_with_its_label_in_the_agents_language() -> None:
    with Call(Agent(ScriptedBrain(["Gerne."]), language="de-AT")) as call:
        shown: list[tuple[str, str]] = []
        call.conversation.on_state_changed(
            lambda moved: shown.append((moved.target, call.conversation.snapshot().label))
        )
        call.user("ein Flug").settles()
    assert shown == [
        ("user_speaking", "Ich höre Sie"),
        ("thinking", "Ich denke nach"),
        ("speaking", "Ich spreche"),
        ("listening", "Ich höre zu"),
        ("ending", "Wird beendet"),
        ("idle", "Bereit"),
    ]


@pytest.mark.req("C-GUD-003", "L-10.stages", "L-10.detail")
def test_feedback_on_a_wait_is_in_the_users_language() -> None:
    job = scripted_tool("search", Delay(20_000), Progress("la moitié"), Delay(20_000), mode="delegate")
    with Call(Agent(ScriptedBrain([[ToolCall("search")], "Voilà."]), tools=[job], language="fr")) as call:
        call.user("cherche donc").waits(45_000)
    waits = [signal for signal in call.signals if isinstance(signal, sg.Waiting)]
    assert [(wait.at - waits[0].at, wait.label, wait.detail) for wait in waits] == [
        (0, "J'y travaille", ""),
        (5_000, "Toujours en cours", ""),
        (15_000, "Ça avance", ""),
        (20_000, "Ça avance", "la moitié"),
        (30_000, "Plus long que prévu", "la moitié"),
    ]


# -- What to do about a fault

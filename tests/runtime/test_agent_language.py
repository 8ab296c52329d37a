"""An agent knows the backchannels and the commands of its language, in a whole call and in every profile."""

# ruff: noqa: RUF001 - Chinese and Japanese have their own punctuation
from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from duologue.core.leaves import Ask
from duologue.core.settings import PROFILES
from duologue.ears.local import LocalEars
from duologue.ears.moonshine import Moonshine
from duologue.ears.scripted import ScriptedEars
from duologue.observe import signals as sg
from duologue.phrases.texts import SPOKEN, texts_in
from duologue.runtime.agent import Agent, InvalidAgent, Phrases
from duologue.testing import Call, Delay, ScriptedBrain
from duologue.turns.language import KNOWN
from duologue.voice.sounds import Sounds

LONG = "Der nächste freie Termin ist am Montag um neun Uhr, und danach hätten wir noch etwas am Dienstag um vier."


def calling(language: str, profile: str) -> Call:
    settings = replace(PROFILES[profile], greets=False)
    return Call(Agent(ScriptedBrain([LONG, "Gut."]), language=language, profile=settings))


def decisions(call: Call) -> list[str]:
    return [signal.decision for signal in call.signals if isinstance(signal, sg.Decided)]


judging = pytest.mark.parametrize("profile", ["confirm", "words"])


@pytest.mark.req("V-02", "M-14")
@judging
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "ja genau"),
        ("de-AT", "Mhmm."),
        ("fr", "d’accord"),
        ("es", "sí, claro"),
        ("ja", "はい、そうですね"),
        ("zh", "嗯，好的"),
        ("en", "yeahhh, got it"),
    ],
)
def test_a_backchannel_in_the_callers_language_does_not_interrupt(profile: str, language: str, text: str) -> None:
    with calling(language, profile) as call:
        call.user("Wann geht es?").interrupts(text).expect_heard(LONG)
        assert "barge_in" not in decisions(call)


@pytest.mark.req("V-02", "M-14")
@judging
@pytest.mark.parametrize(
    ("language", "text"),
    [("de", "halt"), ("de-CH", "Moment mal bitte"), ("es", "para"), ("fr", "stop"), ("ja", "待って"), ("zh", "停")],
)
def test_a_command_in_the_callers_language_interrupts(profile: str, language: str, text: str) -> None:
    with calling(language, profile) as call:
        call.user("Wann geht es?").interrupts(text).expect_heard("Gut.").expect_never_heard(LONG)
        assert "barge_in" in decisions(call)
        assert call.said[-1] == text


@pytest.mark.req("V-02")
@pytest.mark.parametrize(("language", "is_heard"), [("de", True), ("en", False)])
def test_the_language_decides_what_a_word_is(language: str, is_heard: bool) -> None:
    """To an agent that speaks English, these are two words like any others."""
    with calling(language, "words") as call:
        call.user("Wann geht es?").interrupts("ja genau").settles()
        assert (LONG in call.heard) is is_heard


@pytest.mark.req("V-02")
@judging
@pytest.mark.parametrize(("language", "text"), [("de", "ja das stimmt"), ("en", "of course"), ("ja", "そうなんですね")])
def test_a_backchannel_while_the_agent_thinks_costs_no_answer(profile: str, language: str, text: str) -> None:
    """Its first word alone may be no backchannel: "das" could go on in any way."""
    settings = replace(PROFILES[profile], greets=False)
    agent = Agent(ScriptedBrain([[Delay(3_000), LONG], "Gut."]), language=language, profile=settings)
    with Call(agent) as call:
        call.user("Wann geht es?").waits(500).says(text).settles()
        assert call.heard == [LONG]


@pytest.mark.parametrize("language", ["german", "", "en US"])
def test_a_language_that_is_not_a_code_is_refused_with_the_known_codes(language: str) -> None:
    with pytest.raises(InvalidAgent, match=f"language must be a code .* not '{language}'.* {', '.join(KNOWN)}"):
        Agent(ScriptedBrain([]), language=language)


def test_a_language_without_phrases_is_listed_beside_problems_of_phrases_and_sounds() -> None:
    phrases = Phrases(spoken={"working": "I look at {nothing}.", "no_code": "What?"})
    with pytest.raises(InvalidAgent) as refused:
        Agent(lambda request: "Hello.", language="sv", phrases=phrases, sounds=Sounds(thinking="no.wav"))
    found = str(refused.value)
    for problem in ("'sv' has no built-in phrases", "unknown field {nothing}", "['no_code']: unknown code", "no.wav"):
        assert problem in found
    with pytest.raises(InvalidAgent, match=r"must be dicts.*'sv' has no built-in phrases"):
        Agent(lambda request: "Hello.", language="sv", phrases=Phrases(spoken=["Hello"]))  # type: ignore[arg-type]


def test_a_language_without_phrases_is_refused_with_the_texts_that_are_missing() -> None:
    with pytest.raises(
        InvalidAgent, match=f"'sv' has no built-in phrases .*{', '.join(KNOWN)}.* for .*check_in.*working"
    ):
        Agent(ScriptedBrain([]), language="sv")


def test_a_language_with_phrases_of_ones_own_is_logged_once_and_the_call_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    own = Phrases(spoken=dict.fromkeys(SPOKEN, "Hej."))
    with caplog.at_level(logging.WARNING, "duologue"):
        for _ in range(2):
            settings = replace(PROFILES["words"], greets=False)
            agent = Agent(ScriptedBrain([LONG, "Gut."]), language="qaa-SE", profile=settings, phrases=own)
            with Call(agent) as call:
                call.user("Hej").interrupts("mhm").expect_heard(LONG)
                call.user("Hej igen").settles()
    logged = [record.getMessage() for record in caplog.records if "qaa-SE" in record.getMessage()]
    assert len(logged) == 1
    assert "backchannels" in logged[0]
    assert ", ".join(KNOWN) in logged[0]


# -- What the agent says by itself


@pytest.mark.parametrize("language", KNOWN)
def test_check_ins_and_the_goodbye_are_in_the_agents_language(language: str) -> None:
    settings = replace(PROFILES["words"], greets=False, dead_air_ms=2_000, check_ins_max=2)
    with Call(Agent(ScriptedBrain([]), language=language, profile=settings)) as call:
        call.waits(60_000)
    spoken = texts_in(language).spoken
    said = [*spoken["check_in"], spoken["goodbye"][0]]
    assert [text.split() for text in call.heard] == [text.replace("。", "。 ").split() for text in said]


def test_texts_of_your_own_are_said_instead() -> None:
    phrases = Phrases(check_ins=("Na?",), spoken={"working": "Momentle."})
    agent = Agent(ScriptedBrain([]), language="de", phrases=phrases)
    assert [agent.phrase(Ask.CHECK_IN, is_greeting=False, check_in=number) for number in (1, 2)] == ["Na?", "Na?"]
    assert agent.says("working", 5) == "Momentle."
    assert agent.says("yes", 0) == "Ja?"


def test_an_empty_check_in_or_goodbye_is_left_to_the_brain() -> None:
    agent = Agent(ScriptedBrain([]), phrases=Phrases(check_ins=(), goodbye=""))
    assert agent.phrase(Ask.CHECK_IN, is_greeting=False, check_in=1) == ""
    assert agent.phrase(Ask.GOODBYE, is_greeting=False, check_in=2) == ""


def test_unknown_codes_and_fields_are_listed_with_all_other_problems() -> None:
    phrases = Phrases(goodbye="Bye {you}", spoken={"no_such": "x"}, shown={"listening": "{phase}"})
    with pytest.raises(InvalidAgent) as refused:
        Agent(ScriptedBrain([]), phrases=phrases, voice="espeak", language="german")  # type: ignore[arg-type]
    wanted = ("phrases.goodbye: unknown field {you}", "['no_such']: unknown code", "unknown field {phase}")
    assert [line for line in (*wanted, "speak(text)", "language must be") if line not in str(refused.value)] == []


# -- Ears that can't hear the language


class EnglishEars(ScriptedEars):
    languages = frozenset({"en", "fr"})


@pytest.mark.parametrize("language", ["de", "de-AT", "sv_SE"])
def test_ears_that_cannot_hear_the_agents_language_are_refused_with_alternatives(language: str) -> None:
    with pytest.raises(InvalidAgent, match="EnglishEars hears only en, fr: use ears for this language, such as"):
        Agent(ScriptedBrain([]), ears=EnglishEars(), language=language)


@pytest.mark.parametrize("language", ["de", "es-MX"])
def test_the_local_ears_are_refused_for_a_language_that_their_model_does_not_hear(language: str) -> None:
    with pytest.raises(InvalidAgent) as refused:
        Agent(ScriptedBrain([]), ears=LocalEars(), language=language)
    assert str(refused.value).endswith(
        f"language is {language!r}, but LocalEars hears only en: use ears for this language, such as RealtimeModel(…), "
        "LocalEars(stt=…) with your own model or your own Ears, or set language='en'"
    )
    assert "\n" not in str(refused.value)
    assert Agent(ScriptedBrain([]), ears=LocalEars(), language="en-GB").ears is not None


@pytest.mark.parametrize("language", ["en", "en-GB", "fr_CA", "eng"])
def test_ears_that_hear_the_agents_language_are_accepted(language: str) -> None:
    assert Agent(ScriptedBrain([]), ears=EnglishEars(), language=language).language == language


def test_ears_that_do_not_say_what_they_hear_are_accepted() -> None:
    assert Agent(ScriptedBrain([]), ears=ScriptedEars(), language="de").ears is not None


def test_the_local_model_hears_english() -> None:
    assert Moonshine.languages == {"en"}


class _FlowsInSpanish(ScriptedBrain):
    language = "es-MX"


def test_an_agent_and_its_flows_with_different_languages_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "duologue"):
        Agent(_FlowsInSpanish([]), language="es")
        assert not caplog.records
        Agent(_FlowsInSpanish([]), language="de")
    assert [record.getMessage() for record in caplog.records] == [
        "the agent has language 'de', but its flows have 'es-MX': set Agent(language='es-MX')"
    ]

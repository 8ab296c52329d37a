"""Tables of written texts and what is said for them, in each language; the same tables show where sentences end."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.spoken.forms import LANGUAGES, SpokenForms, lexicon_problems
from duologue.voice.sentences import Sentences

FOLDER = Path(__file__).with_name("cases")


def cases(language: str) -> list[tuple[str, list[str]]]:
    """The table of a language."""
    table = tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    return [(written, spoken) for written, spoken in table["cases"]]


ALL = [(path.stem, *case) for path in sorted(FOLDER.glob("*.toml")) for case in cases(path.stem)]


def sentences(text: str, language: str, size: int) -> list[str]:
    """The sentences of a text that comes in pieces of this size."""
    splitter = Sentences(language)
    found = [one for at in range(0, len(text), size) for one in splitter.feed(text[at : at + size])]
    return [*found, *filter(None, [splitter.rest()])]


@pytest.mark.parametrize(("language", "written", "spoken"), ALL, ids=[f"{code}: {text[:40]}" for code, text, _ in ALL])
@pytest.mark.parametrize("size", [1, 5, 1_000])
def test_a_text_is_said_as_people_say_it(language: str, written: str, spoken: list[str], size: int) -> None:
    forms = SpokenForms(language)
    assert [forms.of(sentence).text for sentence in sentences(written, language, size)] == spoken


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_table_of_each_language_has_at_least_forty_cases(language: str) -> None:
    assert len(cases(language)) >= 40


@pytest.mark.parametrize(
    ("code", "written", "spoken"),
    [
        ("en-GB", "On 4/3/2026.", "On March fourth, twenty twenty-six."),
        ("en-US", "On 4/3/2026.", "On April third, twenty twenty-six."),
        ("es-MX", "Cuesta $1,234.50.", "Cuesta mil doscientos treinta y cuatro pesos con cincuenta centavos."),
        ("de_AT", "Um 8 Uhr.", "Um acht Uhr."),
    ],
)
def test_the_region_decides_how_dates_and_money_are_read(code: str, written: str, spoken: str) -> None:
    assert SpokenForms(code).of(written).text == spoken


# -- The lexicon of an agent


def test_the_lexicon_comes_before_everything_else() -> None:
    forms = SpokenForms("en", {"SQL": "sequel", "Nguyen": "win", "5G": "five gee"})
    assert forms.of("Ms. Nguyen knows sql and 5G, not NoSQLs.").text == "Miz win knows sequel and five gee, not NoSQLs."


def test_the_lexicon_holds_where_spoken_forms_are_off() -> None:
    forms = SpokenForms("en", {"SQL": "sequel"}, is_off=True)
    assert forms.of("**SQL** costs $5.").text == "**sequel** costs $5."


@pytest.mark.parametrize(
    ("lexicon", "problem"),
    [
        (["SQL"], "pronunciations must be a dict"),
        ({"": "x"}, "a word must be text"),
        ({"SQL": ""}, "pronunciations['SQL'] must be what is said"),
        ({"SQL": 5}, "pronunciations['SQL'] must be what is said"),
    ],
)
def test_a_lexicon_that_cannot_be_used_is_described(lexicon: object, problem: str) -> None:
    assert problem in lexicon_problems(lexicon)[0]
    assert lexicon_problems({"SQL": "sequel"}) == []


# -- What holds for every text

TEXT = st.text(alphabet="aBz ÄñDr.p5 0,1:/-–$€%*_`#|[]()<>@&~\n🙂'\"?!=+v", max_size=80)  # noqa: RUF001


@given(st.sampled_from([*LANGUAGES, "fr"]), TEXT)
def test_any_text_has_a_spoken_form_and_places_never_go_back(language: str, text: str) -> None:
    spoken = SpokenForms(language).of(text)
    places = [spoken.written_place(place) for place in range(len(spoken.text) + 1)]
    assert places == sorted(places)
    assert spoken.written == text
    assert all(0 <= place <= len(text) for place in places)
    assert spoken.text == " ".join(spoken.text.split()) or not spoken.pieces


@given(st.sampled_from(LANGUAGES), st.integers(0, 10**12))
def test_every_number_has_words(language: str, number: int) -> None:
    spoken = SpokenForms(language).of(f"x {number} y").text
    assert not any(map(str.isdigit, spoken))


@pytest.mark.parametrize("language", [*LANGUAGES, "fr"])
@pytest.mark.parametrize(
    "unit", ["|" + "-" * 60, "--|", "1,", "1.1", "a@a.", "[a](", "+1 ", "12 ", "*", "`", "<a ", "St. ", "https://a."]
)
def test_a_hostile_text_has_a_spoken_form_too(language: str, unit: str) -> None:
    text = f"|{unit * (2_000 // len(unit))}x"
    assert SpokenForms(language).of(text).written == text

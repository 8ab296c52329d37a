"""Tags are written as a service takes them, and every word is written once."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.ports.markup import SpeechTag, TaggedText
from duologue.spoken.forms import Pronunciation, SpokenForms
from duologue.voice.markup import CARTESIA, ELEVENLABS, SSML, SSML_BODY, Markup


def tagged(text: str, **lexicon: Any) -> TaggedText:
    spoken = SpokenForms("en", lexicon).of(text)
    return TaggedText(spoken.text, tuple(SpeechTag(*tag) for tag in spoken.tags))


TEXT = (
    '<speed ratio="0.8">It costs $3.50</speed>, <break time="500ms"/> and <emotion value="excited"/>'
    "Siobhan & Ben agree."
)
SIOBHAN = Pronunciation("shivawn", ipa="ʃəvɔn")


@pytest.mark.parametrize(
    ("markup", "written"),
    [
        (
            CARTESIA,
            '<speed ratio="0.8"/>It costs three dollars and fifty cents<speed ratio="1"/>, <break time="500ms"/>and '
            '<emotion value="excited"/>shivawn and Ben agree.<emotion value="neutral"/>',
        ),
        (
            ELEVENLABS,
            'It costs three dollars and fifty cents, <break time="0.5s" />and '
            '<phoneme alphabet="ipa" ph="ʃəvɔn">shivawn</phoneme> and Ben agree.',
        ),
        (
            SSML,
            '<speak><prosody rate="80%">It costs three dollars and fifty cents</prosody>, <break time="500ms"/>and '
            '<phoneme alphabet="ipa" ph="ʃəvɔn">shivawn</phoneme> and Ben agree.</speak>',
        ),
    ],
)
def test_each_service_gets_the_tags_that_it_takes(markup: Markup, written: str) -> None:
    assert markup.write(tagged(TEXT, Siobhan=SIOBHAN)) == written


def test_a_text_without_tags_is_not_changed() -> None:
    assert SSML.write(TaggedText("A & B")) == "A & B"
    assert SSML.write(TaggedText("A & B", (SpeechTag("emotion", "sad", 0, 5),))) == "A & B"


def test_a_service_that_puts_every_text_into_a_document_gets_every_text_escaped() -> None:
    assert SSML_BODY.write(TaggedText("A & B")) == "A &amp; B"
    assert SSML_BODY.write(TaggedText("A & B", (SpeechTag("speed", "1.5", 0, 1),))) == (
        '<prosody rate="150%">A</prosody> &amp; B'
    )


def test_words_are_escaped_in_a_document() -> None:
    assert SSML.write(TaggedText("A & B", (SpeechTag("break", "100", 1, 1),))) == (
        '<speak>A<break time="100ms"/> &amp; B</speak>'
    )


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"templates": {"pitch": "{text}"}}, "'pitch' isn't a kind of tag"),
        ({"templates": {"speed": "<fast>"}}, "the template of 'speed' needs {text} once"),
        ({"templates": {}, "around": "<speak>"}, "around needs {text} once"),
    ],
)
def test_a_template_that_would_lose_words_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Markup(**settings)


TAGS = st.sampled_from(
    [
        '<speed ratio="0.8">',
        "</speed>",
        '<emotion value="sad"/>',
        '<break time="1s"/>',
        '<phoneme ph="a">',
        "</phoneme>",
    ]
)


@given(st.lists(TAGS | st.sampled_from(["Anna ", "SQL ", "3 ", "Dr. ", "**so** ", "Siobhan "]), max_size=12))
def test_whatever_is_tagged_the_words_stay_the_same(parts: list[str]) -> None:
    text = "".join(parts)
    bare = SpokenForms("en", {"Siobhan": SIOBHAN}).of(re.sub("<[^>]*>", "", text))
    for markup in (CARTESIA, ELEVENLABS, SSML):
        made = markup.write(tagged(text, Siobhan=SIOBHAN))
        assert re.sub("<[^>]*>", "", made).split() == bare.text.split()
        if markup is not CARTESIA:
            opened = [name for end, name in re.findall(r"<(/?)([a-z]+)(?=[^<>]*[^/<>]?>)(?![^<>]*/>)", made) if not end]
            closed = re.findall(r"</([a-z]+)>", made)
            assert sorted(opened) == sorted(closed)

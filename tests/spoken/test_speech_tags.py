"""Speech tags are taken out of a written text, with the stretch to which each applies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.spoken.speech_tags import (
    bare,
    has_tags,
    is_in_tag,
    is_ipa,
    read_tags,
    without_spaces_in_tags,
    without_tags,
)


def stretches(text: str) -> list[tuple[str, str, str]]:
    written, tags = read_tags(text)
    return [(tag.kind, tag.value, written[tag.start : tag.end]) for tag in tags]


@pytest.mark.parametrize(
    ("text", "written", "tags"),
    [
        ("No tag <3 here.", "No tag <3 here.", []),
        ("Wait <break time='1.5s'/> here.", "Wait here.", [("break", "1500", "")]),
        ('<speed ratio="0.8"/> Slowly now.', "Slowly now.", [("speed", "0.8", "Slowly now.")]),
        (
            '<emotion value="calm">It is <speed ratio=".7">four</speed> two</emotion>.',
            "It is four two.",
            [("emotion", "calm", "It is four two"), ("speed", "0.7", "four")],
        ),
        ('At <phoneme ph="nəki">Nike</phoneme>.', "At Nike.", [("phonemes", "nəki", "Nike")]),
        ('<volume ratio="9">Loud</volume>.', "Loud.", [("volume", "2", "Loud")]),
        # an outer tag that ends also ends what was opened within it
        (
            '<emotion value="sad"><speed ratio="1.2">a</emotion> b</speed>',
            "a b",
            [("emotion", "sad", "a"), ("speed", "1.2", "a")],
        ),
    ],
)
def test_tags(text: str, written: str, tags: list[tuple[str, str, str]]) -> None:
    assert without_tags(text) == written
    assert stretches(text) == tags


@pytest.mark.parametrize(
    "text",
    [
        '<speed ratio="fast">So</speed>.',
        '<speed ratio="nan">So</speed>.',
        "<speed>So</speed>.",
        '<break time="-1s"/>So.',
        '<break time="soon"/>So.',
        '<emotion value="x&quot;y">So</emotion>.',
        '<phoneme ph="a<b">So</phoneme>.',
        '<phoneme ph="1&2">So</phoneme>.',
        "So</speed>.",
        '<speed ratio="1.2"></speed>So.',
    ],
)
def test_a_tag_that_is_not_allowed_is_left_out_and_its_words_are_said(text: str) -> None:
    written, tags = read_tags(text)
    assert "So" in written
    assert not tags


def test_other_markup_is_not_touched() -> None:
    assert without_tags("<b>So</b> <voice name='x'>what</voice>") == "<b>So</b> <voice name='x'>what</voice>"
    assert not has_tags("a < b > c")


def test_an_unfinished_tag() -> None:
    assert is_in_tag("Well, <emotion value=")
    assert not is_in_tag("Well, <emotion value='x'/> 1 < 2")


def test_a_piece_without_its_tags() -> None:
    assert bare(' <break time="1s"/> now <emotion val') == "  now "
    assert bare("now <emo") == bare("now <") == "now "
    assert bare("1 < 2") == "1 < 2"


def test_a_text_shows_where_it_may_be_cut() -> None:
    assert (
        without_spaces_in_tags("a <b c> <break time='1s'/> d <speed ratio=")
        == "a <b c> <break_time='1s'/> d <speed_ratio="
    )
    assert without_spaces_in_tags("a b") == "a b"


def test_ipa() -> None:
    assert is_ipa("ʃəvɔn")
    assert not is_ipa('"/><break')
    assert not is_ipa(None)


@given(st.text("ab <>/=\"'.speedratio0", max_size=60))
def test_any_text_can_be_read_and_tags_are_in_order_and_nested(text: str) -> None:
    written, tags = read_tags(text)
    ends: list[int] = []
    for tag in tags:
        assert 0 <= tag.start <= tag.end <= len(written)
        while ends and ends[-1] <= tag.start:
            ends.pop()
        assert not ends or tag.end <= ends[-1]
        ends.append(tag.end)

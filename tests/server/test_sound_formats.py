"""Which formats are agreed."""

from __future__ import annotations

import pytest

from duologue.server.sound_formats import SoundFormats, agreed_formats

BOTH = {"input": ["opus"], "output": ["flac", "opus"]}


@pytest.mark.parametrize(
    ("offered", "agreed"),
    [
        ({}, ("pcm", "pcm")),
        ({"rate_hz": 16_000}, ("pcm", "pcm")),
        (BOTH, ("opus", "opus")),
        ({"output": ["opus"]}, ("pcm", "opus")),
        ({"input": ["opus"], "output": []}, ("opus", "pcm")),
        ({"input": ["pcm"], "output": ["mp3"]}, ("pcm", "pcm")),
    ],
)
def test_opus_is_used_where_both_sides_have_it(offered: dict[str, list[str]], agreed: tuple[str, str]) -> None:
    assert agreed_formats(offered, is_wanted=True) == SoundFormats(*agreed)
    assert agreed_formats(offered, is_wanted=False) == SoundFormats("pcm", "pcm")


def test_without_libopus_there_is_pcm() -> None:
    assert agreed_formats(BOTH, is_wanted=True, why_no_opus=lambda: "it isn't here") == SoundFormats("pcm", "pcm")


def test_libopus_is_not_looked_for_if_no_client_offers_opus() -> None:
    def why_no_opus() -> str | None:
        raise AssertionError("libopus was loaded")

    assert agreed_formats({"input": ["flac"]}, is_wanted=True, why_no_opus=why_no_opus) == SoundFormats()
    assert agreed_formats(BOTH, is_wanted=False, why_no_opus=why_no_opus) == SoundFormats()

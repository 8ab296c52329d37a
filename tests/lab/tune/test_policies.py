"""Settings by name: one policy changes, and the rest stays as the call was recorded."""

from __future__ import annotations

import pytest

from duologue.core.errors import DuologueError
from duologue.hearing.policy import HearingPolicy
from duologue.lab.tune.policies import RECORDED, endpoint_settings, family_of, overlap_settings, setting
from duologue.turns.controller import PRESETS
from duologue.turns.endpoint import CombinedEndpoint, EasyTurnEndpoint, FixedSilence, ManualEndpoint, SemanticEndpoint

OWN = HearingPolicy(FixedSilence(650), language="de", wordless_ms_max=5_000)


@pytest.mark.parametrize(
    ("name", "endpoint"),
    [
        (RECORDED, FixedSilence(650)),
        ("silence 700", FixedSilence(700)),
        ("silence 700 ms", FixedSilence(700)),
        ("silence-1200", FixedSilence(1_200)),
        ("patient", CombinedEndpoint(SemanticEndpoint.named("patient"))),
        ("easyturn", EasyTurnEndpoint(PRESETS["balanced"])),
        ("easyturn aggressive", EasyTurnEndpoint(PRESETS["aggressive"])),
        ("manual", ManualEndpoint()),
    ],
)
def test_a_name_gives_its_endpoint_policy_and_changes_nothing_else(name: str, endpoint: object) -> None:
    made = setting(name, OWN)
    assert made.endpoint == endpoint
    assert (made.overlap, made.language, made.wordless_ms_max) == (OWN.overlap, "de", 5_000)


def test_an_overlap_policy_keeps_the_language_of_the_call() -> None:
    made = setting("words", OWN)
    assert made.endpoint == OWN.endpoint
    assert made.overlap.language == "de"  # type: ignore[attr-defined]
    assert made.overlap.substantial_min == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["", "psychic", "silence", "silence x", "easyturn psychic", "silence 1234567"])
def test_an_unknown_name_is_refused_with_those_that_are_known(name: str) -> None:
    with pytest.raises(DuologueError, match=r"unknown policy .*: use one of .*patient.*silence 700"):
        setting(name, OWN)


@pytest.mark.parametrize("has_sound", [False, True])
def test_every_setting_that_is_compared_has_a_policy_and_a_family(has_sound: bool) -> None:
    names = [*endpoint_settings(has_sound), *overlap_settings()]
    assert names[0] == RECORDED
    assert ("patient" in names) is has_sound
    for name in names:
        setting(name, OWN)
        assert family_of(name) in ("recorded", "silence", "easyturn", "sound")

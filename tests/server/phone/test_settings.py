"""The settings of phone lines."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duologue.core.leaves import Overlap
from duologue.core.settings import PROFILES, profile, with_changes
from duologue.server.phone.routes import InvalidPhoneSettings
from duologue.server.phone.settings import on_the_phone
from tests.server.phone.phone_calls import SECRET, settings

PHONE_PAGE = Path(__file__).parents[3] / "docs" / "phone.md"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"public_url": "phone.example"}, "https://host"),
        ({"public_url": "http://phone.example"}, "must be https"),
        ({"twilio_auth_token": ""}, "no webhook can be verified"),
        ({"allow_unsigned": True}, "for simulations"),
        ({"telnyx_public_key": "abc"}, "32 bytes"),
        ({"telnyx_codec": "OPUS"}, "PCMU, PCMA or L16"),
        ({"telnyx_rate_hz": 44_100}, "telnyx_rate_hz"),
        ({"token_key": b"short"}, "16 bytes"),
        ({"calls_max": 0}, "calls_max"),
        ({"drain_to": "the night desk"}, "drain_to must be a number with country code"),
        ({"hold_music": Path("missing.wav")}, "hold_music must be a WAV file that exists"),
    ],
)
def test_unsafe_settings_are_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidPhoneSettings, match=why) as caught:
        settings(**changes)
    assert SECRET not in str(caught.value)


def test_settings_do_not_show_their_secrets() -> None:
    shown = repr(settings(token_key=b"0123456789abcdef"))
    assert SECRET not in shown
    assert "0123456789abcdef" not in shown


# -- The settings of an agent's calls


@pytest.mark.parametrize("name", PROFILES)
def test_an_agent_without_settings_of_its_own_has_the_profile_for_phones(name: str) -> None:
    assert on_the_phone(name) == on_the_phone(profile(name)) == PROFILES["words"]


@pytest.mark.parametrize("name", PROFILES)
def test_what_an_agent_changes_in_its_profile_is_kept_on_the_phone(name: str) -> None:
    own = on_the_phone(profile(name, dead_air_ms=33_000, check_ins_max=5, answer_ms_max=12_000))
    assert (own.dead_air_ms, own.check_ins_max, own.answer_ms_max) == (33_000, 5, 12_000)
    assert (own.overlap, own.greets) == (Overlap.WORDS, True)


@pytest.mark.req("H-09.phone")
@pytest.mark.parametrize("name", PROFILES)
def test_a_setting_that_an_agent_gives_is_kept_on_the_phone_even_if_it_is_the_profiles_default(name: str) -> None:
    base = PROFILES[name]
    own = on_the_phone(profile(name, check_ins_max=base.check_ins_max, hangs_up=base.hangs_up, greets=base.greets))
    assert (own.check_ins_max, own.hangs_up, own.greets) == (base.check_ins_max, base.hangs_up, base.greets)
    assert (own.overlap, own.dead_air_ms) == (Overlap.WORDS, PROFILES["words"].dead_air_ms)


def test_settings_that_were_changed_in_two_steps_are_all_kept_on_the_phone() -> None:
    own = with_changes(profile("confirm", check_ins_max=1), dead_air_ms=20_000)
    assert on_the_phone(on_the_phone(own)) == profile("words", check_ins_max=1, dead_air_ms=20_000)


def test_an_agents_own_rule_for_interruptions_is_kept_on_the_phone() -> None:
    assert on_the_phone(profile("confirm", overlap=Overlap.IMMEDIATE)).overlap is Overlap.IMMEDIATE


def test_settings_with_a_name_of_their_own_are_used_as_they_are() -> None:
    own = replace(PROFILES["confirm"], name="mine", dead_air_ms=1_000)
    assert on_the_phone(own) is own


def test_the_idle_settings_of_each_line_are_as_documented() -> None:
    page, row = PHONE_PAGE.read_text(encoding="utf-8"), r"^\| `(\w+)`[^|]*\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$"
    rows = {name: cells for name, *cells in re.findall(row, page, re.MULTILINE)}
    assert {*rows} >= {"overlap", "greets", "dead_air_ms", "check_ins_max", "hangs_up"}
    own = on_the_phone(profile("confirm", dead_air_ms=30_000, check_ins_max=3))
    for name in ("overlap", "greets", "dead_air_ms", "check_ins_max", "hangs_up"):
        values = [getattr(of, name) for of in (PROFILES["confirm"], PROFILES["words"], own)]
        assert rows[name] == [_as_documented(value) for value in values]


def test_an_agent_with_the_phones_profile_may_never_hang_up() -> None:
    own = on_the_phone(profile("words", check_ins_max=1, hangs_up=False))
    assert (own.check_ins_max, own.hangs_up) == (1, False)


def _as_documented(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(getattr(value, "value", value))

"""Extras that need the same package can be installed beside each other: one version of it satisfies all of them."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.needs import needs_package

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
INSTALL = "pip install 'duologue[livekit]'"


def pin(extra: str, package: str) -> Requirement:
    """What this extra of the project needs of a package."""
    found = [Requirement(one) for one in PROJECT["optional-dependencies"][extra]]
    (needed,) = [one for one in found if one.name == package]
    return needed


@pytest.fixture(autouse=True)
def _installed() -> None:
    needs_package("livekit.rtc", INSTALL)
    needs_package("livekit.agents", INSTALL)


def test_the_installed_livekit_packages_satisfy_echo_and_livekit() -> None:
    assert pin("echo", "livekit").specifier.contains(version("livekit"))
    assert pin("livekit", "livekit-agents").specifier.contains(version("livekit-agents"))


def test_the_installed_livekit_is_the_one_that_livekit_agents_needs() -> None:
    """So the version that `[livekit]` brings is one that `[echo]` accepts."""
    needed = [one for one in map(Requirement, requires("livekit-agents") or []) if one.name == "livekit"]
    assert needed, "livekit-agents no longer needs livekit"
    for one in needed:
        assert one.specifier.contains(version("livekit")), one


@pytest.mark.parametrize("package", ["numpy", "soxr", "soundfile", "onnxruntime"])
def test_what_both_extras_need_for_speech_is_installed_in_a_fitting_version(package: str) -> None:
    assert all("duologue[speech]" in PROJECT["optional-dependencies"][extra] for extra in ("echo", "livekit"))
    try:
        found = version(package)
    except PackageNotFoundError:
        pytest.fail(f"{package} is missing: {INSTALL}")
    assert pin("speech", package).specifier.contains(found)

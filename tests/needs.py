"""What tests need besides the code: models, a browser, axe-core, PostgreSQL, packages. This is the only list.

A test calls one of these functions, usually in a fixture, and never while its module is imported. Rule: where something
is missing, the test is skipped with the command that gets it; with CI=true it fails, because CI installs everything.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

from duologue.models.cache import is_present, model_path
from duologue.store.wall_clock import boot_id
from duologue.testing.postgres import NoPostgres, PrivatePostgres, find_programs

ROOT = Path(__file__).parent.parent

MODELS = (
    "silero-vad",
    "smart-turn",
    "moonshine-tiny",
    "moonshine-base",
    "speech-samples",
    "minilm",
    "e5-small",
    "espeak-ng",
    "svox-pico",
)
"""Every model that a test uses: `duologue models pull NAME` gets one."""

COMPILED = ("svox-pico",)
"""Those that need a C compiler. They are pulled one by one, so that the others can be had without one."""

PROGRAMS = {
    "Chromium": "sh tools/ensure_chromium.sh",
    "axe-core": "sh tools/ensure_axe.sh",
    "PostgreSQL": "sh tools/ensure_postgres.sh",
    "packages of clients/js": "sh tools/ensure_client_packages.sh",
    "strace": "sh tools/ensure_strace.sh",
}
"""Everything else, and the command that installs it."""

LIBRARIES = {
    "silero-vad": "onnxruntime",
    "smart-turn": "onnxruntime",
    "moonshine-tiny": "onnxruntime",
    "moonshine-base": "onnxruntime",
    "minilm": "numpy",
    "e5-small": "onnxruntime",
}
"""The package that runs a model."""


PLUGINS = ("anthropic", "deepgram", "elevenlabs")
"""The plugins of LiveKit's that `duologue[dev]` installs."""


def is_ci() -> bool:
    """Does CI run these tests? Then everything is installed, and every run tries the same examples."""
    return os.environ.get("CI") == "true"


def require(name: str, *_: object, **__: object) -> ModuleType:
    """Import a package. Takes the place of `pytest.importorskip` with CI=true: there a missing package is an error."""
    return importlib.import_module(name)


def missing(reason: str) -> NoReturn:
    """Skip this test, or fail it with CI=true."""
    if is_ci():
        pytest.fail(reason)
    pytest.skip(reason, allow_module_level=True)


def needs_model(name: str) -> Path:
    """The folder of a model that can be run here."""
    assert name in MODELS, f"add {name} to MODELS in tests/needs.py"
    if library := LIBRARIES.get(name):
        needs_package(library, "pip install 'duologue[speech,nlu]'")
    if not is_present(name):
        missing(f"model {name} is missing: duologue models pull {name}")
    return model_path(name)


def needs_package(name: str, command: str) -> ModuleType:
    """An installed package, imported."""
    try:
        found = importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is missing
        found = False
    if not found:
        missing(f"package {name} is missing: {command}")
    return importlib.import_module(name)


def needs_plugin(name: str) -> ModuleType:
    """A plugin of LiveKit's: those in PLUGINS are installed for `make test`, the others for `make providers`."""
    command = "pip install 'duologue[dev]'" if name in PLUGINS else "make providers"
    return needs_package(f"livekit.plugins.{name}", command)


def needs_chromium() -> str:
    """The path of a Chromium that Playwright can start."""
    needs_package("playwright", "pip install 'duologue[dev]'")
    from duologue.lab.bench.chromium import find_chromium

    found = find_chromium()
    if not found:
        missing(f"Chromium is missing: {PROGRAMS['Chromium']}, or name one in DUOLOGUE_CHROMIUM")
    return found


def needs_axe() -> str:
    """The source of axe-core, which checks a page for accessibility."""
    script = ROOT / "build" / "axe" / "axe.min.js"
    if not script.exists():
        missing(f"axe-core is missing: {PROGRAMS['axe-core']}")
    return script.read_text(encoding="utf-8")


def needs_client_packages() -> Path:
    """The folder with TypeScript and React, for the tests of clients/js."""
    folder = ROOT / "build" / "clients" / "node_modules"
    if not folder.is_dir():
        missing(f"packages of clients/js are missing: {PROGRAMS['packages of clients/js']}")
    return folder


def needs_postgres() -> None:
    """PostgreSQL's server programs."""
    if find_programs() is None:
        missing(f"PostgreSQL is missing: {PROGRAMS['PostgreSQL']}")


@contextmanager
def private_postgres() -> Iterator[PrivatePostgres]:
    """A PostgreSQL server for a test or a session of tests."""
    needs_postgres()
    server = PrivatePostgres()
    try:
        server.__enter__()
    except NoPostgres as problem:
        missing(f"{problem}: {PROGRAMS['PostgreSQL']}")
    try:
        yield server
    finally:
        server.__exit__(None, None, None)


def needs_ipv6() -> None:
    """An IPv6 address of this machine."""
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return
    except OSError as problem:
        missing(f"the address ::1 is missing ({problem}): sysctl -w net.ipv6.conf.lo.disable_ipv6=0")


def needs_boot_id() -> None:
    """An id of the last boot of this machine."""
    if not boot_id():
        missing("the boot id is missing: run the tests on Linux, with /proc mounted")


def needs_program_in_path(name: str, command: str) -> str:
    """The path of an installed program."""
    found = shutil.which(name)
    if found is None:
        missing(f"{name} is missing: {command}")
    return found

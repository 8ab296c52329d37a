"""Fixtures of the server's tests: a small page in place of the panel, and a check for exceptions that were lost."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from duologue.server import static_files
from duologue.testing.postgres import PrivatePostgres
from tests.needs import private_postgres

SECRET = "beside the folder of the page"


@pytest.fixture(autouse=True)
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a page, and a file next to it that must not be served."""
    folder = tmp_path / "site" / "web"
    folder.mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>page</title>")
    (folder / "page.js").write_text("export const page = 1;")
    (folder.parent / "secret.txt").write_text(SECRET)
    monkeypatch.setattr(static_files, "WEB", folder)
    return folder


@pytest.fixture
def postgres() -> Iterator[PrivatePostgres]:
    """A server that a test may stop."""
    with private_postgres() as server:
        yield server


@pytest.fixture(autouse=True)
def nothing_forgotten() -> Iterator[None]:
    """An exception that was never retrieved is logged only at garbage collection; collect now, not in another test.

    What is in memory before a test is frozen, so that the collection after it looks at this test only.
    """
    complaints: list[str] = []
    listener = logging.Handler(logging.ERROR)
    listener.emit = lambda record: complaints.append(record.getMessage())  # type: ignore[method-assign]
    gc.collect()
    gc.freeze()
    logging.getLogger("asyncio").addHandler(listener)
    yield
    gc.collect()
    logging.getLogger("asyncio").removeHandler(listener)
    assert not [line for line in complaints if "never retrieved" in line]

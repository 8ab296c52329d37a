"""The server's tests bring a page of their own: what is served is not what they are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.server import files

SECRET = "beside the folder of the page"


@pytest.fixture(autouse=True)
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a page, and a file beside it that nobody may read."""
    folder = tmp_path / "site" / "web"
    folder.mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>page</title>")
    (folder / "page.js").write_text("export const page = 1;")
    (folder.parent / "secret.txt").write_text(SECRET)
    monkeypatch.setattr(files, "WEB", folder)
    return folder

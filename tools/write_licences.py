"""Writes docs/licences.md: the licence of every package that the server image installs, as the package states it.

Run it after `tools/lock_image.sh`, where the packages are installed (`make test` installs them). Rule: a package
without a licence in its metadata is an error.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "deploy" / "requirements.lock"
PAGE = ROOT / "docs" / "licences.md"
COPYLEFT = re.compile(r"\bA?L?GPL\b|\bMPL\b|Mozilla", re.IGNORECASE)
SAID_IN_FILES = {"aiohappyeyeballs": "PSF-2.0"}  # where the metadata says nothing useful
HEAD = """# Licences

Every package that the server image installs (`deploy/requirements.lock`), direct or
not, with the licence that the package itself states. `python tools/write_licences.py` writes this page.

Duologue is under the Apache License 2.0. **Copyleft licences are marked**: these libraries are used as separate
packages, which you may replace; if you pass the image on, their conditions apply to them.

- soxr (LGPL-2.1-or-later) resamples sound; psycopg (LGPL-3.0) is used only with PostgreSQL.
- espeak-ng (GPL-3.0-or-later) isn't a dependency. It is loaded at run time only if you pull it and choose its voice.
- Models aren't packages: [Models](models.md) lists them with their licences.

| package | version | licence | |
|---|---|---|---|
"""


def locked() -> list[tuple[str, str]]:
    """The packages of the image, with their versions."""
    return re.findall(r"^([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?==([^ ;]+)", LOCK.read_text(encoding="utf-8"), re.MULTILINE)


def licence_of(name: str) -> str:
    """The licence that a package states: as an expression, in a classifier or in words."""
    about = metadata(name)
    classified = [line.rsplit(" :: ", 1)[-1] for line in about.get_all("Classifier") or () if "License ::" in line]
    stated = about.get("License-Expression") or ", ".join(classified) or (about.get("License") or "").splitlines()[0:1]
    text = stated if isinstance(stated, str) else "".join(stated)
    return SAID_IN_FILES.get(name) or text.strip()


def main() -> None:
    rows, missing = [], []
    for name, version in locked():
        try:
            licence = licence_of(name)
        except PackageNotFoundError:
            licence = ""
        if not licence:
            missing.append(name)
        rows.append(f"| {name} | {version} | {licence} | {'**copyleft**' if COPYLEFT.search(licence) else ''} |\n")
    if missing:
        sys.exit(f"no licence is known of: {', '.join(missing)}; are they installed?")
    PAGE.write_text(HEAD + "".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()

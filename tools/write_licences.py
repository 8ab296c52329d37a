"""Writes docs/licences.md: the licence of every package that the server image installs, as the package states it.

Wheels also contain libraries in C, which the metadata of most packages doesn't name. Those with a copyleft licence are
listed in `INSIDE`.

Run it on Linux after `tools/lock_image.sh`, where the packages are installed (`make test` installs them). Rule: a
package without a licence in its metadata is an error, and so is a library of `INSIDE` that its package doesn't contain.
"""

from __future__ import annotations

import re
import sys
from fnmatch import fnmatch
from importlib.metadata import PackageNotFoundError, files, metadata
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "deploy" / "requirements.lock"
PAGE = ROOT / "docs" / "licences.md"
COPYLEFT = re.compile(r"\bA?L?GPL\b|\bMPL\b|Mozilla", re.IGNORECASE)
SAID_IN_FILES = {"aiohappyeyeballs": "PSF-2.0"}  # where the metadata says nothing useful
# The libraries with a copyleft licence inside wheels: package, file names, licence, where the licence is known from.
INSIDE = (
    ("soundfile", ("libsndfile*",), "LGPL-2.1-or-later", "`COPYING` in the wheel; it also contains LAME and mpg123"),
    ("numpy", ("libgfortran*",), "GPL-3.0-or-later WITH GCC-exception-3.1", "`LICENSE.txt` in the wheel"),
    ("numpy", ("libquadmath*",), "LGPL-2.1-or-later", "`LICENSE.txt` in the wheel"),
    ("onnxruntime", ("libonnxruntime.so*",), "MIT; contains Eigen (MPL-2.0)", "`ThirdPartyNotices.txt` in the wheel"),
    ("psycopg-binary", ("libkeyutils*", "libcrypt-*"), "LGPL-2.1-or-later", "the libraries' projects"),
    ("av", ("libx264*", "libx265*"), "**GPL-2.0-or-later**", "the libraries' projects"),
    (
        "av",
        ("libavcodec*", "libavutil*"),
        "LGPL-3.0-or-later",
        "what libavutil states; libavcodec is linked with x264 and x265",
    ),
    ("av", ("libmp3lame*", "libasound*"), "LGPL-2.0-or-later, LGPL-2.1-or-later", "the libraries' projects"),
    ("av", ("libgnutls*",), "LGPL-2.1-or-later", "the library's project"),
    (
        "av",
        ("libgmp*", "libnettle*", "libhogweed*", "libunistring*"),
        "LGPL-3.0-or-later OR GPL-2.0-or-later",
        "the libraries' projects",
    ),
)
HEAD = """# Licences

Every package that the server image installs (`deploy/requirements.lock`), direct or
not, with the licence that the package itself states. `python tools/write_licences.py` writes this page.

Duologue is under the Apache License 2.0. **Copyleft licences are marked**: these libraries are used as separate
packages, which you may replace; if you pass the image on, their conditions apply to them.

- soxr (LGPL-2.1-or-later) resamples sound; psycopg (LGPL-3.0) is used only with PostgreSQL.
- espeak-ng (GPL-3.0-or-later) isn't a dependency. It is loaded at run time only if you pull it and choose its voice.
- Models aren't packages: [Models](models.md) lists them with their licences.

## Packages

| package | version | licence | |
|---|---|---|---|
"""
INSIDE_HEAD = """
## Libraries inside the packages

The wheels for Linux contain libraries that are under other licences than the packages. The table lists those with a
copyleft licence. PyAV (`av`) isn't in the image: it comes with the extra `webrtc`. Duologue uses its libopus
(BSD-3-Clause), and no video. If you pass on an image or a bundle with PyAV's wheel, **you pass on x264 and x265, which
are under the GPL**. PyAV that is built from its source uses the FFmpeg libraries of your system instead.

| library | in the package | licence | known from |
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


def inside() -> str:
    """The rows of the libraries inside the packages. Raises SystemExit if a package doesn't contain its library."""
    rows = []
    for package, patterns, licence, source in INSIDE:
        try:
            contained = [path.name for path in files(package) or ()]
        except PackageNotFoundError:
            sys.exit(f"{package} isn't installed: install it, to see what it contains")
        for pattern in patterns:
            if not any(fnmatch(name, pattern) and ".so" in name for name in contained):
                sys.exit(f"{package} doesn't contain {pattern}: correct INSIDE")
        names = ", ".join(re.split(r"[*.-]", pattern)[0] for pattern in patterns)
        rows.append(f"| {names} | {package} | {licence} | {source} |\n")
    return "".join(rows)


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
    PAGE.write_text(HEAD + "".join(rows) + INSIDE_HEAD + inside(), encoding="utf-8")


if __name__ == "__main__":
    main()

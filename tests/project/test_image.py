"""The server image: every package is pinned with hashes, and its licence is listed."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from tests.needs import missing

ROOT = Path(__file__).parent.parent.parent
LOCK = (ROOT / "deploy" / "requirements.lock").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
LICENCES = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")

PERMISSIVE = set(
    # FFmpeg's other libraries are under the licence of libavutil; MIT, BSD, Apache-2.0 and the like
    "libavdevice libavfilter libavformat libswresample libswscale libsvtav1enc libxau libdav1d libdrm "
    "libopencore libopus libsharpyuv libvpl libvpx libwebp libwebpmux libxcb libscipy_openblas "
    "libcom_err libcrypto libgssapi_krb5 libk5crypto libkrb5 libkrb5support "
    "liblber libldap libpq libsasl2 libssl".split()
)


def locked() -> dict[str, str]:
    """The packages of the image, each with the lines of its hashes."""
    entries = re.split(r"^(?=[A-Za-z0-9])", LOCK, flags=re.MULTILINE)
    return {re.match(r"[A-Za-z0-9_.-]+", entry)[0].lower(): entry for entry in entries if "==" in entry}  # type: ignore[index]


def test_every_package_of_the_image_has_hashes() -> None:
    assert len(locked()) > 20
    assert [name for name, entry in locked().items() if "--hash=sha256:" not in entry] == []
    assert "--require-hashes" in DOCKERFILE


def test_the_lock_file_has_every_package_that_the_image_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    script = (ROOT / "tools" / "lock_image.sh").read_text(encoding="utf-8")
    extras = re.findall(r"--extra (\w+)", script)
    assert "server" in extras
    wanted = {
        re.match(r"[A-Za-z0-9_.-]+", line)[0].lower()  # type: ignore[index]
        for extra in extras
        for line in project["optional-dependencies"][extra]
        if not line.startswith("duologue")
    }
    assert wanted - set(locked()) == set()


def test_the_licence_of_every_package_is_listed_and_copyleft_is_marked() -> None:
    table = re.findall(r"^\| (\S+) \| (\S+) \| (.+?) \| (.*) ?\|$", LICENCES, re.MULTILINE)
    rows = {row[0].lower(): row for row in table}
    assert set(locked()) - set(rows) == set()
    for name in ("soxr", "psycopg", "psycopg-binary"):
        assert "LGPL" in rows[name][2]
        assert "copyleft" in rows[name][3]
    assert "espeak-ng (GPL-3.0-or-later)" in LICENCES


@pytest.mark.parametrize("package", ["av", "numpy", "psycopg-binary", "soundfile"])
def test_every_library_inside_a_wheel_is_listed_or_known_to_be_permissive(package: str) -> None:
    """A new version of a package may bring another library, whose licence has to be looked up."""
    try:
        contained = {
            path.name for path in metadata.files(package) or () if ".libs" in str(path) or "_data" in str(path)
        }
    except metadata.PackageNotFoundError:
        missing(f"{package} isn't installed: pip install {package}")
    found = {re.split(r"[-.]|_x86|64_", name)[0].lower() for name in contained if ".so" in name}
    listed = {
        name for row in re.findall(rf"^\| (.+?) \| {package} \|", LICENCES, re.MULTILINE) for name in row.split(", ")
    }
    assert listed
    assert found - listed - PERMISSIVE == set()


def test_the_licence_of_every_optional_dependency_is_listed_too() -> None:
    """Also of those that the image doesn't install."""
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")] for line in page.splitlines() if line.startswith("| `")]
    listed = {name for row in rows if row[4] for name in packages_in(row[2])}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {
        re.match(r"[A-Za-z0-9_.-]+", line)[0].lower()  # type: ignore[index]
        for lines in (project.get("dependencies", []), *project["optional-dependencies"].values())
        for line in lines
        if not line.startswith("duologue")
    }
    assert sorted(wanted - listed - set(locked())) == []


def packages_in(cell: str) -> list[str]:
    """The packages that a cell of the table names: `uvicorn`, `psycopg (binary)`, or `plugins-a, -b`."""
    first, *others = re.sub(r" \(.*\)", "", cell).lower().split(", ")
    return [first, *(first.rpartition("-")[0] + one if one.startswith("-") else one for one in others)]


def test_the_security_policy_says_where_to_report_and_what_is_supported() -> None:
    policy = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for part in ("Report", "Supported versions", "docs/threat-model.md"):
        assert part in policy


def test_every_test_that_the_threat_model_names_exists() -> None:
    page = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+/test_\w+\.py)`", page)
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).is_file()] == []

"""Fuzz every parser with nearly valid input: `make fuzz`, or `python tools/fuzz.py --seconds 600 journal flows`.

Mutates seeds at random; with `--atheris`, if it is installed, one target is driven by coverage. Rule: an input
that fails is written to a file; moved to tests/fuzz/found/TARGET/, the file is a test.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fuzz.targets import Target

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("targets", nargs="*", help="the targets to fuzz; without a name, all of them")
    options.add_argument("--seconds", type=float, default=120, help="the time for all targets together")
    options.add_argument("--seed", type=int, default=0, help="the seed of the mutations")
    options.add_argument("--out", type=Path, default=ROOT / "build" / "fuzz", help="the folder for failing inputs")
    options.add_argument("--atheris", action="store_true", help="fuzz one target, driven by coverage, until stopped")
    given = options.parse_args()
    if given.atheris:
        return _with_atheris(given.targets)
    from tests.fuzz.targets import TARGETS

    names = given.targets or list(TARGETS)
    if unknown := [name for name in names if name not in TARGETS]:
        options.error(f"unknown target {unknown[0]!r}: use one of {', '.join(TARGETS)}")
    found = 0
    for name in names:
        found += _play(name, TARGETS[name], given.seconds / len(names), given.seed, given.out)
    return 1 if found else 0


def _play(name: str, target: Target, seconds: float, seed: int, out: Path) -> int:
    """Try as many examples as there is time for. Each kind of failure is reported once."""
    seen: set[str] = set()
    count, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        data = target.example(random.Random(f"{name} {seed} {count}"))
        count += 1
        try:
            target.feed(data)
        except Exception as failure:  # noqa: BLE001 - this is what we look for
            place = traceback.extract_tb(failure.__traceback__)[-1]
            kind = f"{type(failure).__name__} at {Path(place.filename).name}:{place.lineno}"
            if kind not in seen:
                seen.add(kind)
                _save(name, data, kind, failure, out)
    _say(f"{name}: {count} examples, {len(seen) or 'no'} kinds of failure")
    return len(seen)


def _save(name: str, data: bytes, kind: str, failure: Exception, out: Path) -> None:
    file = out / name.replace(" ", "-") / hashlib.sha256(data).hexdigest()[:12]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    _say(f"{name}: {kind}: {str(failure)[:200]}\n  {file}")


def _with_atheris(names: list[str]) -> int:
    try:
        import atheris  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ModuleNotFoundError:
        _say("atheris is not installed: pip install atheris, or omit --atheris")
        return 2
    with atheris.instrument_imports(include=["duologue"]):
        from tests.fuzz.targets import TARGETS
    if len(names) != 1 or names[0] not in TARGETS:
        _say(f"name one target: {', '.join(TARGETS)}")
        return 2
    corpus = ROOT / "build" / "fuzz" / "corpus" / names[0].replace(" ", "-")
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(TARGETS[names[0]].seeds()):
        (corpus / f"seed-{number}").write_bytes(seed)
    atheris.Setup([sys.argv[0], str(corpus)], TARGETS[names[0]].feed)
    atheris.Fuzz()
    return 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

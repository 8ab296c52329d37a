"""For every module of the product a newcomer finds its test by name: `a/b.py` is tested by `tests/a/test_b.py`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SRC, TESTS = ROOT / "src" / "duologue", ROOT / "tests"

# Modules without behaviour, or run only as a process of their own, and where they are exercised.
EXEMPT = {
    "client/failures.py": "three exceptions; tests/client/test_client.py sees them",
    "core/effects.py": "values; every row's test sees them",
    "dialogue/commands.py": "values",
    "dialogue/effects.py": "values",
    "dialogue/events.py": "values",
    "dialogue/matrix.py": "a table, compared with the machine by tests/lab/check/dialogue/test_check.py",
    "lab/bench/measured_process.py": "a process of its own, measured by tests/lab/bench/test_server_workers.py",
    "lab/bench/served_process.py": "a process of its own, measured by tests/lab/bench/test_timed_server.py",
    "lab/torture/hostile_node.py": "a process of its own, started by tests/lab/torture/test_hostile_run.py",
    "lab/torture/node.py": "a process of its own, started and killed by tests/lab/torture/test_nodes.py",
    "lines/phone/call/effects.py": "values; every row's test sees them",
    "lines/phone/call/inputs.py": "values; every row's test sees them",
    "lines/playback/inputs.py": "values; every row's test sees them",
    "lines/playback/intents.py": "values; every row's test sees them",
    "models/failure.py": "two exceptions",
    "observe/signals.py": "values",
    "ports/call_actions.py": "a protocol and a value; tests/server/phone/test_phone_call.py uses it",
    "ports/client_channel.py": "a protocol and a value; tests/server/rtvi/test_call.py uses it",
    "ports/ears.py": "a protocol and values",
    "ports/history.py": "values",
    "ports/line.py": "a protocol and values",
    "ports/session.py": "a protocol and values",
    "ports/store.py": "a protocol, values and exceptions; tests/store/test_store_contract.py holds stores to it",
    "ports/switches.py": "a protocol and a value",
    "ports/words.py": "a protocol and a value",
    "ports/tool_call.py": "one value",
    "ports/voice.py": "a protocol",
    "server/ownership/inputs.py": "values; every row's test sees them",
    "server/ownership/intents.py": "values; every row's test sees them",
    "server/protocols/closes.py": "values; the tests of the sockets see them",
    "server/realtime/acts.py": "values; the tests of the translation see them",
    "server/realtime/facts.py": "values; the tests of the translation see them",
    "server/rtvi/acts.py": "values; the tests of the translation see them",
    "server/rtvi/carrier.py": "a protocol; tests/server/rtvi/client_script.py is one",
    "server/rtvi/facts.py": "values; the tests of the translation see them",
    "spoken/english_units.py": "a table, exercised by the cases of tests/spoken/test_forms.py",
    "spoken/german_units.py": "a table, exercised by the cases of tests/spoken/test_forms.py",
    "spoken/spanish_units.py": "a table, exercised by the cases of tests/spoken/test_forms.py",
    "turns/completion_table.py": "numbers, written by tools/fit_turns.py",
}
MODULES = [
    path
    for path in sorted(SRC.rglob("*.py"))
    if path.stem not in ("__init__", "__main__") and "project" not in path.relative_to(SRC).parts
]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SRC)))
def test_a_module_has_a_test_of_its_name(path: Path) -> None:
    module = path.relative_to(SRC)
    if str(module) not in EXEMPT:
        assert (TESTS / module.parent / f"test_{path.stem}.py").is_file()


def test_what_is_exempt_exists_and_has_no_test() -> None:
    for module in EXEMPT:
        assert (SRC / module).is_file(), module
        assert not (TESTS / Path(module).parent / f"test_{Path(module).stem}.py").exists(), module


# An attribute of another object, and a private name that is imported or named in a string. `_replace`, `_fields` and
# `_asdict` are public names of named tuples, and `os._exit` of the standard library.
PRIVATE = (
    re.compile(r"(?<!self)(?<!cls)(?<!super\(\))[\w)\]]\._(?!replace|fields|asdict|exit)[A-Za-z]\w*"),
    re.compile(r"from duologue[\w.]* import [^#]*\b_[A-Za-z]\w*"),
    re.compile(r"(?:setattr|getattr|Times)\([^#]*?[\"'](?:[\w.]*\.)?_[A-Za-z]\w*[\"']"),
)


def private_names(line: str) -> list[str]:
    """What this line of a test says of private names that aren't its own."""
    code = line.partition("#")[0]
    return [
        match.group()
        for pattern in PRIVATE
        for match in pattern.finditer(code)
        if not re.search(r"\b(self|cls|other)\.", code[: match.end()])
    ]


def test_no_test_touches_a_private_name_of_the_product() -> None:
    found = []
    for path in sorted(TESTS.rglob("*.py")):
        if "oracles" in path.parts or path == Path(__file__):  # other projects' objects, and the examples below
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found += [f"{path.relative_to(ROOT)}:{number} {name}" for name in private_names(line)]
    assert not found


@pytest.mark.parametrize(
    "line",
    [
        "cut = ledger._Passage.cut",
        "agent._driver.stop()",
        "from duologue.voice.ledger import Ledger, _Passage",
        'monkeypatch.setattr(module, "_limit", 3)',
        'monkeypatch.setattr("duologue.runtime.driver._limit", 3)',
        'Times("_judge", 1)',
    ],
)
def test_a_private_name_is_noticed(line: str) -> None:
    assert private_names(line)


@pytest.mark.parametrize("line", ["self._mine = 1", "row._replace(x=1)", "os._exit(9)", "x = 1  # agent._driver"])
def test_a_name_of_ones_own_is_allowed(line: str) -> None:
    assert not private_names(line)

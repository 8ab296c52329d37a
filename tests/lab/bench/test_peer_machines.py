"""The peers of the core have the lifecycle table and nothing else, so that they can be compared."""

from __future__ import annotations

import importlib
import logging

import pytest

from duologue.core.errors import DuologueError
from duologue.core.views import LIFECYCLE
from duologue.lab.bench import peer_machines
from duologue.lab.bench.representative_call import build_call

LIBRARIES = {"python_statemachine": "statemachine", "transitions": "transitions"}


def build_peer(name: str) -> peer_machines.MakeWalker:
    pytest.importorskip(LIBRARIES[name], reason="pip install 'duologue[bench]'")
    return peer_machines.PEERS[name]()


@pytest.mark.parametrize("name", peer_machines.PEERS)
def test_a_peer_reproduces_the_lifecycle_of_the_call(name: str) -> None:
    moves = build_call().lifecycle
    assert peer_machines.follow(build_peer(name), moves).seen == [target for _, target in moves]


@pytest.mark.parametrize("name", peer_machines.PEERS)
def test_a_peer_makes_every_move_of_the_table_and_no_other(name: str) -> None:
    make, allowed = build_peer(name), LIFECYCLE.allowed()
    for state in LIFECYCLE.states:
        for target in LIFECYCLE.states:
            walker = peer_machines.follow(make, path_to(state))
            walker.seen.clear()
            walker.send(peer_machines.event_to(target))
            assert walker.seen == ([target] if (state, target) in allowed else []), (state, target)


@pytest.mark.parametrize("name", peer_machines.PEERS)
def test_a_peer_ignores_a_useless_event_without_raising(name: str) -> None:
    make, moves = build_peer(name), build_call().lifecycle
    for state in dict.fromkeys(build_call().shown_when_ignored()):
        walker = peer_machines.park(make, state, moves)
        noted = list(walker.seen)
        walker.send(peer_machines.useless_event(state))
        assert walker.seen == noted


@pytest.mark.parametrize("name", peer_machines.PEERS)
def test_a_peer_that_takes_another_path_is_not_timed(name: str) -> None:
    with pytest.raises(DuologueError, match="the peer entered"):
        peer_machines.follow(build_peer(name), [("idle", "idle")])


@pytest.mark.parametrize("name", peer_machines.PEERS)
def test_a_missing_library_says_how_to_install_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def import_nothing(module: str) -> None:
        raise ImportError(module)

    monkeypatch.setattr(importlib, "import_module", import_nothing)
    with pytest.raises(DuologueError, match=r"pip install 'duologue\[bench\]'"):
        peer_machines.PEERS[name]()


def test_the_logs_of_a_peer_are_quiet_only_while_it_is_timed() -> None:
    logger = logging.getLogger("transitions")
    before = logger.level
    with peer_machines.quiet_logs():
        assert logger.level == logging.ERROR
    assert logger.level == before


def path_to(state: str) -> list[tuple[str, str]]:
    """A shortest way from the first state, along the table."""
    paths: dict[str, list[tuple[str, str]]] = {LIFECYCLE.states[0]: []}
    for source in (queue := [LIFECYCLE.states[0]]):
        for target in LIFECYCLE.states:
            if (source, target) in LIFECYCLE.allowed() and target not in paths:
                paths[target] = [*paths[source], (source, target)]
                queue.append(target)
    return paths[state]

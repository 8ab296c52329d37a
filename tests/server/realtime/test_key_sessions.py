"""The session configurations of clients' keys."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from duologue.server.realtime import key_sessions
from duologue.server.realtime.key_sessions import KEPT_S_MAX, KeySessions
from duologue.server.realtime.refusal import EventRefused
from duologue.server.realtime.session_config import SessionConfig

LATER = round(time.time()) + 600
KIND = {"type": "realtime", "instructions": "Be kind."}


def test_a_configuration_is_found_by_its_key_in_all_processes(tmp_path: Path) -> None:
    alone, one, other = KeySessions(), KeySessions(str(tmp_path)), KeySessions(str(tmp_path))
    for sessions in (alone, one):
        assert sessions.keep("a key", LATER, KIND).instructions == "Be kind."
        assert sessions.find("a key").instructions == "Be kind."
        assert sessions.find("another key") == SessionConfig()
    assert other.find("a key").instructions == "Be kind."
    (file,) = (tmp_path / "key-sessions").iterdir()
    assert "a key" not in file.name
    assert file.parent.stat().st_mode & 0o077 == 0, "other users can't read it"


def test_an_invalid_configuration_is_refused_and_not_kept(tmp_path: Path) -> None:
    sessions = KeySessions(str(tmp_path))
    with pytest.raises(EventRefused):
        sessions.keep("a key", LATER, {"type": "realtime", "colour": "red"})
    assert not (tmp_path / "key-sessions").exists()


def test_old_configurations_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1_000.0]
    monkeypatch.setattr("time.time", lambda: clock[0])
    monkeypatch.setattr(key_sessions, "KEPT_MAX", 2)
    sessions = KeySessions(str(tmp_path))
    for number in range(3):
        sessions.keep(f"key {number}", 1_600, KIND)
    assert sessions.find("key 0") == SessionConfig(), "there are too many"
    assert sessions.find("key 1").instructions == "Be kind."
    clock[0] += 600 + KEPT_S_MAX
    assert sessions.find("key 2") == SessionConfig()
    assert list((tmp_path / "key-sessions").iterdir()) == []

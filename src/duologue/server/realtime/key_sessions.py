"""The session configurations that belong to clients' keys, kept until the keys have expired.

A server with several processes also keeps them in a folder that its processes share, because a client may reach any of
them. Rule: the name of a file is the digest of its key, so the folder opens nothing.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import OrderedDict
from pathlib import Path

from .fields import JsonObject
from .session_config import SessionConfig
from .session_fields import update

KEPT_MAX = 10_000  # the oldest ones are forgotten
KEPT_S_MAX = 7_200  # the longest time for which a key is valid


class KeySessions:
    """The configurations of the keys of one server. `shared` is a folder that only the processes of this server can
    read; empty if there is only one process."""

    def __init__(self, shared: str = "") -> None:
        self._folder = Path(shared) / "key-sessions" if shared else None
        self._kept: OrderedDict[str, tuple[int, SessionConfig]] = OrderedDict()

    def keep(self, key: str, expires_at: int, session: JsonObject) -> SessionConfig:
        """Keep the configuration that this session describes, and return it. Raises EventRefused if it is invalid, and
        OSError if it can't be written."""
        config, name = update(SessionConfig(), session), _digest(key)
        if self._folder is not None:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            (self._folder / name).write_text(json.dumps(session), "utf-8")
        self._kept[name] = (expires_at, config)
        self._forget_old()
        return config

    def find(self, key: str) -> SessionConfig:
        """The configuration that was set when this key was made."""
        self._forget_old()
        name = _digest(key)
        if name in self._kept:
            return self._kept[name][1]
        try:
            text = (self._folder / name).read_text("utf-8") if self._folder is not None else ""
        except FileNotFoundError:
            text = ""
        return update(SessionConfig(), json.loads(text)) if text else SessionConfig()

    def _forget_old(self) -> None:
        now_s = time.time()
        while self._kept and (len(self._kept) > KEPT_MAX or next(iter(self._kept.values()))[0] <= now_s - KEPT_S_MAX):
            name, _ = self._kept.popitem(last=False)
            if self._folder is not None:
                (self._folder / name).unlink(missing_ok=True)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()

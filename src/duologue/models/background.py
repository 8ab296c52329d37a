"""Pulls a model in the background, while the program already works without it.

A thread pulls the model, and the program can ask for the progress. Rule: a pull in the background never blocks its
caller and never raises an exception. If there is a problem, the status of the pull says so in one line.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from .failure import PullFailed
from .pull import Progress, Pulled, PullStage, pull

Pull: TypeAlias = Callable[[list[str], Progress], list[Pulled]]


class PullState(StrEnum):
    """The state of a pull in the background."""

    IDLE = "idle"
    PULLING = "pulling"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PullStatus:
    """The state of a pull in the background. While the pull runs, `name` and `stage` say what is being done, and
    `percent` says how much of it is done. After a failure, `problem` says in one line what to do."""

    state: PullState = PullState.IDLE
    name: str = ""
    stage: PullStage | None = None
    percent: int = 0
    problem: str = ""

    def __str__(self) -> str:
        if self.state is PullState.PULLING and self.stage is not None:
            return f"{self.stage} {self.name}, {self.percent} %"
        return self.problem or str(self.state)


class BackgroundPull:
    """Pulls one model in a thread. When the model is in the cache, `on_ready` is called in this thread."""

    def __init__(self, name: str, on_ready: Callable[[], None], pull_now: Pull = pull) -> None:
        self._name = name
        self._on_ready = on_ready
        self._pull = pull_now
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self.status = PullStatus()

    def start(self) -> None:
        """Start the pull. If it was already started, nothing happens."""
        with self._starting:
            if self._thread is None:
                self.status = PullStatus(PullState.PULLING, self._name)
                self._thread = threading.Thread(target=self._run, name=f"duologue-pull-{self._name}", daemon=True)
                self._thread.start()

    def wait(self, timeout_s: float | None = None) -> PullStatus:
        """Wait until the pull has ended, at most `timeout_s` seconds. Returns the status. For tests, and for commands
        that can't do anything else meanwhile."""
        if self._thread is not None:
            self._thread.join(timeout_s)
        return self.status

    def _run(self) -> None:
        try:
            self._pull([self._name], self._note)
            self._on_ready()
        except PullFailed as failure:
            self.status = PullStatus(PullState.FAILED, self._name, problem=str(failure))
        except Exception as failure:  # noqa: BLE001 - a thread in the background has no caller that could handle it
            self.status = PullStatus(PullState.FAILED, self._name, problem=f"{type(failure).__name__}: {failure}")
        else:
            self.status = PullStatus(PullState.READY, self._name, percent=100)

    def _note(self, name: str, stage: PullStage, done_bytes: int, total_bytes: int) -> None:
        percent = 100 * done_bytes // total_bytes if total_bytes else 0
        self.status = PullStatus(PullState.PULLING, name, stage, percent)

"""The lock: one holder at a time, a bounded wait, released when its holder is done or dies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from duologue.models.failure import PullFailed
from duologue.models.lock import only_one


def test_waiting_for_another_process_has_an_end(tmp_path: Path) -> None:
    file = tmp_path / ".lock"
    waited: list[bool] = []

    def wait() -> None:
        with only_one(file, lambda: waited.append(True), wait_s_max=0.2):
            pass

    with only_one(file, lambda: None), pytest.raises(PullFailed, match=r"another process has held .*\.lock for 0 s"):
        wait()
    assert waited == [True]
    wait()  # after its release, without waiting
    assert waited == [True]


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    file = tmp_path / ".lock"
    code = (
        "import sys; from pathlib import Path; from duologue.models.lock import only_one\n"
        f"with only_one(Path({str(file)!r}), lambda: None):\n    print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(PullFailed), only_one(file, lambda: None, wait_s_max=0):
        pass
    holder.kill()
    holder.communicate()
    with only_one(file, lambda: pytest.fail("the lock is free"), wait_s_max=0):
        pass

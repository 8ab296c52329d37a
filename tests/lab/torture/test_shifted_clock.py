"""A shifted clock: the wall clock of one process is wrong, its monotonic clock is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.limits import WAIT_S

SCRIPT = """
import os, signal, sys, time
from pathlib import Path
from duologue.lab.torture.shifted_clock import install

file = Path(sys.argv[1])
real, steady = time.time(), time.monotonic()
install(file)
import datetime
def off():
    clocks = (time.time(), time.time_ns() / 1e9, datetime.datetime.now().timestamp())
    return [round((clock - real) / 100) * 100 for clock in clocks]
print(off())
file.write_text("86400")
os.kill(os.getpid(), signal.SIGUSR1)
print(off(), datetime.date.today() == datetime.date.fromtimestamp(real + 86400))
print(time.monotonic() - steady < 3600)
"""


def test_a_signal_sets_the_wall_clock_to_what_the_file_says(tmp_path: Path) -> None:
    file = tmp_path / "clock"
    command = [sys.executable, "-c", SCRIPT, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=WAIT_S)
    assert done.stdout.splitlines() == ["[0, 0, 0]", "[86400, 86400, 86400] True", "True"]


def test_a_clock_is_wrong_from_the_start_if_its_file_says_so(tmp_path: Path) -> None:
    file = tmp_path / "clock"
    file.write_text("-3600", encoding="ascii")
    command = [sys.executable, "-c", SCRIPT, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=WAIT_S)
    assert done.stdout.splitlines()[0] == "[-3600, -3600, -3600]"

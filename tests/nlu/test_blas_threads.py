"""Numpy is limited to one thread while a message is understood, and gets its threads back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from duologue.nlu.blas_threads import one_core
from tests.needs import needs_package


def threads() -> int:
    """How many threads numpy's BLAS uses now."""
    found = needs_package("threadpoolctl", "pip install 'duologue[nlu]'").threadpool_info()
    return next(int(library["num_threads"]) for library in found if library["user_api"] == "blas")


@pytest.fixture
def two() -> Iterator[None]:
    """A machine where BLAS uses two threads."""
    with needs_package("threadpoolctl", "pip install 'duologue[nlu]'").threadpool_limits(2, user_api="blas"):
        yield


@pytest.mark.usefixtures("two")
def test_the_threads_are_limited_and_restored_after_the_last_user() -> None:
    with one_core():
        with one_core():
            assert threads() == 1
        assert threads() == 1
    assert threads() == 2


@pytest.mark.usefixtures("two")
def test_users_may_leave_in_any_order() -> None:
    first, second = ExitStack(), ExitStack()
    first.enter_context(one_core())
    second.enter_context(one_core())
    first.close()
    assert threads() == 1
    second.close()
    assert threads() == 2


def test_without_threadpoolctl_the_block_just_runs() -> None:
    code = (
        "import sys; sys.modules['threadpoolctl'] = None\n"
        "from duologue.nlu.blas_threads import one_core\n"
        "with one_core(): print('ran')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("ran\n", 0), done.stderr

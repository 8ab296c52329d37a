"""The pytest plugin: it adds the fixture `call`, which calls the agent that your fixture `agent` returns, and it runs
the stories in `*.stories.yaml` files as tests.

pytest loads this module in every run, so the rest of Duologue is imported only when a test needs it. Rule: the fixture
`call` ends its call after the test.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from duologue.runtime.agent import Agent

    from .call import Call


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Make every story of a `*.stories.yaml` file a test."""
    if not file_path.name.endswith(".stories.yaml"):
        return None
    from .story_files import StoriesFile

    made: pytest.Collector = StoriesFile.from_parent(parent, path=file_path)
    return made


@pytest.fixture
def agent() -> Agent:
    """The agent that the fixture `call` calls. Define your own fixture `agent` in your conftest or test module. The
    fixture here only raises an error that tells you to do so."""
    raise pytest.UsageError("define a fixture `agent` that returns your duologue.Agent: the fixture `call` calls it")


@pytest.fixture
def call(agent: Agent) -> Iterator[Call]:
    """A call to the agent, already started."""
    from .call import Call

    with Call(agent) as line:
        yield line

"""The pytest plugin: a fixture `call` for whoever defines a fixture `agent`, and files `*.stories.yaml` as tests.

Loaded by pytest through its entry point, so it imports nothing until a test asks. Rule: a call is
ended by its fixture, and what it left running fails the test.
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
    """Every story of a file of stories is a test."""
    if not file_path.name.endswith(".stories.yaml"):
        return None
    from .story_files import StoriesFile

    made: pytest.Collector = StoriesFile.from_parent(parent, path=file_path)
    return made


@pytest.fixture
def agent() -> Agent:
    """Who answers. A project overrides this in its conftest or its test module."""
    raise pytest.UsageError("define a fixture `agent` that returns your duologue.Agent: the fixture `call` calls it")


@pytest.fixture
def call(agent: Agent) -> Iterator[Call]:
    """A call to the agent, already answered."""
    from .call import Call

    with Call(agent) as line:
        yield line

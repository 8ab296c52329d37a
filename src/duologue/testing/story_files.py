"""Runs stories of flows as pytest tests. A file such as `flights.stories.yaml` is in the same folder as its flows and
their functions.

Rule: a failed story is reported with its line and with what happened instead, without a traceback.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from duologue.flows.find_functions import find_functions
from duologue.flows.load import load_flows
from duologue.flows.stories import InvalidStories, Story, StoryFile, StoryOutcome, play, read_stories
from duologue.nlu.local import LocalNlu


class StoriesFile(pytest.File):
    """A file of stories, as pytest collects it. The stories run with an NLU that needs no model, so nothing is
    downloaded."""

    def collect(self) -> Iterator[pytest.Item]:
        try:
            file = read_stories(self.path)
        except InvalidStories as problem:
            raise self.CollectError(str(problem)) from None
        for story in file.stories:
            yield StoryItem.from_parent(self, name=story.name, file=file, story=story)


class StoryFailed(AssertionError):
    """A story didn't go as written."""


class StoryItem(pytest.Item):
    """One story, as a pytest test."""

    def __init__(self, *, file: StoryFile, story: Story, **given: Any) -> None:
        super().__init__(**given)
        self._file = file
        self._story = story

    def runtest(self) -> None:
        flows = self._file.flows
        registry = find_functions(flows, self._file.actions or None)
        playing = play(self._story, load_flows(flows), registry, LocalNlu(words_only=True), self._file.today)
        outcome: StoryOutcome = asyncio.run(playing)
        if not outcome.is_well:
            raise StoryFailed(f"{self.path}:{outcome.line}: {outcome.problem}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, StoryFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int, str]:
        return self.path, self._story.line - 1, self.name

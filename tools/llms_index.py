"""The index of the documentation for language models, docs/llms.txt: every page with its first sentence.

Follows the convention of llmstxt.org. Rule: pages are in the order of the site's navigation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

SUMMARY = """# Duologue

> A Python runtime for voice agents. A conversation is a pure state machine: events in, state and effects out.
> Around it are STT, turn-taking, LLMs or flows, tools, TTS, and connections to browsers, telephones and microphones.

Install with `pip install 'duologue[cli,server,llm]'`; Python 3.11 or newer.
An agent is `Agent(brain, ears=..., voice=..., tools=[...])`; `duologue serve module:agent` serves it.
`duologue.testing.Call(agent)` plays a call on a simulated clock.
Paths are relative to this file; on the site, `.md` is `.html`.
"""


def llms_index(root: Path) -> str:
    outline = yaml.safe_load((root / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    lines = [SUMMARY]
    section = ""
    for part, title, place in _pages(outline):
        if part != section:
            lines += ["", f"## {part}", ""]
            section = part
        about = first_sentence((root / "docs" / place).read_text(encoding="utf-8"))
        lines.append(f"- [{title}]({place}){f': {about}' if about else ''}")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def _pages(outline: Any, part: str = "Start") -> Iterator[tuple[str, str, str]]:
    for entry in outline:
        ((title, place),) = entry.items()
        if isinstance(place, str):
            yield part if part != "Start" or title in ("Duologue", "Quickstart") else "Reference", title, place
        else:
            yield from _pages(place, title)


def first_sentence(page: str) -> str:
    """The first sentence of the first paragraph, or nothing."""
    without_code = re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n", without_code):
        text = " ".join(paragraph.split())
        if text and not text.startswith(("#", "<!--", "!", "|", ":::", "-")):
            plain = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
            return re.split(r"(?<=[.:])\s(?=[A-Z])", plain)[0].rstrip(":")
    return ""

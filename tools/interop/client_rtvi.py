"""The npm package @pipecat-ai/client-js with two of its transports in Chromium: `rtvi_page.mjs` talks."""

from __future__ import annotations

import os
import sys
from urllib.parse import urlsplit

from chromium_page import run_page

from spoken import report

# What the page must have been told at least once.
STATES = (
    "connected",
    "user started",
    "user stopped",
    "bot started",
    "bot stopped",
    "llm started",
    "llm stopped",
    "tts started",
    "tts stopped",
    "disconnected",
)


def missing_of(facts: dict[str, object]) -> list[str]:
    """What the page wasn't told."""
    seen = facts["seen"]
    assert isinstance(seen, list)
    missing = [f"never told: {state}" for state in STATES if state not in seen]
    wanted = {
        "a partial transcript": facts["partials"],
        "metrics": facts["metrics"],
        "an answer to a message": facts.get("answered") == {"pong": 7},
        "a message of the agent's program": facts["server"] == ["a message"],
        "the progress of what is spoken": "in-progress" in facts["outputs"] and "completed" in facts["outputs"],  # type: ignore[operator]
        "the bot's version": "ready 2.1.0" in seen,
    }
    return missing + [f"never got: {name}" for name, found in wanted.items() if not found]


def main() -> None:
    base_url = f"http://{urlsplit(os.environ['URL']).netloc}/rtvi"
    facts = run_page("rtvi_page", {"base": base_url, "key": os.environ["KEY"], "carrier": os.environ["CARRIER"]})
    if "failed" not in facts:
        facts["errors"] += missing_of(facts)
    report(**facts)
    sys.exit(1 if "failed" in facts else 0)


if __name__ == "__main__":
    main()

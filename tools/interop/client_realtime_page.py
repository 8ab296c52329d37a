"""The npm packages @openai/agents-realtime and openai over WebRTC in Chromium: `realtime_page.mjs` talks.

The page gets a short-lived key, as a page of a user must.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any
from urllib.request import Request, urlopen

from chromium_page import run_page
from spoken import report


def short_lived_key(base: str, token: str) -> str:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with urlopen(Request(f"{base}/realtime/client_secrets", b"{}", headers)) as answer:
        return str(json.load(answer)["value"])


def problems_of(facts: dict[str, Any], wanted: list[str] | None) -> list[str]:
    """What the page should have been told, and wasn't."""
    problems = [] if "truncatedMs" in facts else ["never told: conversation.item.truncated"]
    if wanted is not None and facts["addresses"] != wanted:
        problems.append(f"connected by {facts['addresses']}, not by {wanted}")
    return problems


def main() -> None:
    base, wanted = os.environ["URL"], json.loads(os.environ["ADDRESSES"])
    given = {
        "base": base,
        "key": short_lived_key(base, os.environ["KEY"]),
        "client": os.environ["PACKAGE"],
        "relay": wanted is not None,
    }
    facts = run_page("realtime_page", given)
    if "failed" not in facts:
        facts["errors"] += problems_of(facts, wanted)
    report(**facts)
    sys.exit(1 if "failed" in facts else 0)


if __name__ == "__main__":
    main()

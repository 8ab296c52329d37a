"""The npm packages @openai/agents-realtime and openai over WebRTC in Chromium: `realtime_page.mjs` talks.

The page gets a short-lived key, as a page of a user must.
"""

from __future__ import annotations

import json
import os
import sys
from urllib.request import Request, urlopen

from chromium_page import run_page

from spoken import report


def short_lived_key(base: str, token: str) -> str:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with urlopen(Request(f"{base}/realtime/client_secrets", b"{}", headers)) as answer:
        return str(json.load(answer)["value"])


def main() -> None:
    base = os.environ["URL"]
    key = short_lived_key(base, os.environ["KEY"])
    facts = run_page("realtime_page", {"base": base, "key": key, "client": os.environ["PACKAGE"]})
    if "failed" not in facts and "truncatedMs" not in facts:
        facts["errors"].append("never told: conversation.item.truncated")
    report(**facts)
    sys.exit(1 if "failed" in facts else 0)


if __name__ == "__main__":
    main()

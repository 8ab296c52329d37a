"""The npm package @pipecat-ai/client-js with two of its transports in Chromium: `rtvi_page.mjs` talks.

Runs in the project's own environment, which has Playwright. Rule: the page has what a user's page would have, and comes
from another origin than the server's, which the server allows.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import sync_playwright

from duologue.lab.bench.chromium import find_chromium
from spoken import report

FLAGS = [
    "--no-sandbox",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    "--autoplay-policy=no-user-gesture-required",
]
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


def bundle(packages: Path) -> str:
    """The page's script with the packages in it."""
    made = packages / "rtvi_page.js"
    esbuild = packages / "node_modules" / ".bin" / "esbuild"
    command = [str(esbuild), str(packages / "rtvi_page.mjs"), "--bundle", "--format=iife", "--log-level=error"]
    subprocess.run([*command, f"--outfile={made}"], check=True)
    return made.read_text()


@contextmanager
def page_server(script: str, port: int) -> Iterator[str]:
    """A server of the page alone. Yields the page's address."""
    page = "<!doctype html><title>RTVI</title><script src=page.js></script>"

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_script = self.path.endswith(".js")
            self.send_response(200)
            self.send_header("content-type", "text/javascript" if is_script else "text/html")
            self.end_headers()
            self.wfile.write((script if is_script else page).encode())

        def log_message(self, *given: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", port), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.shutdown()


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
    base = urlsplit(os.environ["URL"])
    base_url = f"http://{base.netloc}/rtvi"
    script = bundle(Path(os.environ["PACKAGES"]))
    with page_server(script, int(os.environ["PAGE_PORT"])) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        page = browser.new_page()
        logs: list[str] = []
        page.on("console", lambda message: logs.append(message.text[:200]) if message.type == "error" else None)
        page.goto(address)
        given = [base_url, os.environ["KEY"], os.environ["CARRIER"]]
        facts = page.evaluate("given => window.runInterop(...given)", given)
        browser.close()
    if "failed" in facts:
        facts["logs"] = logs[-10:]
    else:
        facts["errors"] += missing_of(facts)
    report(**facts)
    sys.exit(1 if "failed" in facts else 0)


if __name__ == "__main__":
    main()

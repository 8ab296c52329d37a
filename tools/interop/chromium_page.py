"""Opens a page with npm packages in Chromium, as a user's page would have them, and returns what it reports.

Runs in the project's own environment, which has Playwright. Rule: the page comes from another origin than the server's,
which the server allows.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from duologue.lab.bench.chromium import find_chromium

FLAGS = [
    "--no-sandbox",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    "--autoplay-policy=no-user-gesture-required",
]


def run_page(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Call `window.runInterop(given)` of the script `name`.mjs, and return its facts. With a TURN server, the page must
    say that it was connected through it."""
    wanted = json.loads(os.environ["ADDRESSES"])
    script = bundle(Path(os.environ["PACKAGES"]), name)
    with page_server(script, int(os.environ["PAGE_PORT"])) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        page = browser.new_page()
        logs: list[str] = []
        page.on("console", lambda message: logs.append(message.text[:200]) if message.type == "error" else None)
        page.goto(address)
        facts: dict[str, Any] = page.evaluate(
            "given => window.runInterop(given)", {**given, "relay": wanted is not None}
        )
        browser.close()
    if "failed" in facts:
        return facts | {"logs": logs[-10:]}
    if wanted is not None and facts["addresses"] != wanted:
        facts["errors"].append(f"connected by {facts['addresses']}, not by {wanted}")
    return facts


def bundle(packages: Path, name: str) -> str:
    """The page's script with the packages in it."""
    made = packages / f"{name}.js"
    esbuild = packages / "node_modules" / ".bin" / "esbuild"
    command = [str(esbuild), str(packages / f"{name}.mjs"), "--bundle", "--format=iife", "--log-level=error"]
    subprocess.run([*command, f"--outfile={made}"], check=True)
    return made.read_text()


@contextmanager
def page_server(script: str, port: int) -> Iterator[str]:
    """A server of the page alone. Yields the page's address."""
    page = "<!doctype html><title>A page</title><script src=page.js></script>"

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

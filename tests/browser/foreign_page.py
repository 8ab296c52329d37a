"""A page of another origin that embeds an agent: its backend makes tickets, its styles may try to break the widget."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from duologue import make_ticket

KEY = "a-ticket-key-of-the-shop"
HOSTILE_CSS = """
* { all: unset !important; display: inline !important; color: red !important; font-size: 40px !important; --ink: red; }
duologue-agent { display: none !important; opacity: 0 !important; transform: scale(0) !important; }
button, section, canvas { visibility: hidden !important; position: static !important; }
"""
SHOP_CSS = """
body { margin: 0; font: 17px/1.6 Georgia, serif; color: #2b2620; background: #faf6ef; }
header { padding: 22px 6vw; background: #2f4a3c; color: #fdfaf4; display: flex; gap: 28px; align-items: baseline; }
header strong { font-size: 22px; letter-spacing: 0.02em; } header a { color: inherit; }
main { padding: 28px 6vw; max-width: 900px; } h1 { font-weight: 500; }
ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 16px; padding: 0; }
li { background: #fff; border: 1px solid #e6dfd2; padding: 14px; list-style: none; }
li::before { content: ""; display: block; height: 90px; margin-bottom: 10px; background: #d9c9a8; }
"""
_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<link rel="icon" href="data:,"><title>Alder &amp; Finch</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{css}</style></head>
<body><header><strong>Alder &amp; Finch</strong><a href="#teas">Teas</a></header>
<main><h1>Loose-leaf teas, blended by hand</h1><p>Order before noon, and we ship the same day.</p>
<ul id="teas"><li>Morning Oak<br>8.50</li><li>Smoked Pine<br>9.20</li>
<li>Bergamot<br>7.80</li><li>Mint &amp; Lime<br>6.90</li></ul></main>
<script src="{script}" {attributes}></script></body></html>"""


def documented_attributes() -> str:
    page = (Path(__file__).parents[2] / "docs" / "clients.md").read_text("utf-8")
    found = re.search(r'<script src="https://agent.example/embed.js" (.*?)></script>', page)
    assert found
    return found.group(1)


class ForeignPage:
    """`page` is what the next visitor gets. `tickets` counts the tickets that the backend made."""

    def __init__(self, css: str = SHOP_CSS) -> None:
        self.css = css
        self.script = ""
        self.attributes = ""
        self.example = ""  # a script for the page /own, which has a button
        self.tickets = 0
        self.ticket_age_s = 0.0  # how long ago the ticket was made that the next visitor gets
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.origin = f"http://127.0.0.1:{self.server.server_port}"

    def embed(self, server_url: str, attributes: str = "") -> None:
        """The line of the docs, or one with other attributes."""
        self.script, self.attributes = f"{server_url}embed.js", attributes or documented_attributes()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        foreign = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body, kind = foreign.answer(self.path)
                self.send_response(200 if body else 404)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *given: object) -> None: ...

        return Handler

    def answer(self, path: str) -> tuple[bytes, str]:
        if path == "/ticket":
            self.tickets += 1
            made_s = time.time() - self.ticket_age_s
            return make_ticket(KEY, origin=self.origin, minutes=5, now_s=made_s).encode(), "text/plain"
        if path == "/own":
            head = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>Own</title>'
            own = f'{head}<button id="talk">Wait</button><script type="module">{self.example}</script>'
            return own.encode(), "text/html; charset=utf-8"
        if path == "/":
            page = _PAGE.format(css=self.css, script=self.script, attributes=self.attributes)
            return page.encode(), "text/html; charset=utf-8"
        return b"", "text/plain"


@contextlib.contextmanager
def foreign_page(css: str = SHOP_CSS) -> Iterator[ForeignPage]:
    """Served until the end of the block."""
    page = ForeignPage(css)
    serving = threading.Thread(target=page.server.serve_forever, args=(0.05,), daemon=True)
    serving.start()
    try:
        yield page
    finally:
        page.server.shutdown()
        page.server.server_close()
        serving.join(10)

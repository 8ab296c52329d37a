"""Check the built site: no page loads anything from another host. `make site` runs this after the build.

Looks at what a browser loads by itself: scripts, styles, images, frames, and what styles import. Links that a reader
clicks may lead anywhere. Rule: exit code 1 and one line for each address that is found.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

LOADED = {
    "script": "src",
    "link": "href",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
}
NOT_LOADED = ("canonical", "prev", "next", "alternate", "author", "license")  # links that describe the page


class LoadedAddresses(HTMLParser):
    """The addresses that a page loads without being asked."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and given.get("rel") in NOT_LOADED:
            return
        address = given.get(LOADED.get(tag, "")) or ""
        if is_foreign(address):
            self.found.append(address)


def is_foreign(address: str) -> bool:
    return address.startswith(("http://", "https://", "//"))


def foreign_addresses(site: Path) -> list[tuple[Path, str]]:
    """Every file of a site with an address on another host that it loads."""
    found = []
    for path in sorted(site.rglob("*.html")):
        page = LoadedAddresses()
        page.feed(path.read_text(encoding="utf-8"))
        found += [(path, address) for address in page.found]
    for path in sorted(site.rglob("*.css")):
        addresses = re.findall(r"(?:url\(|@import\s+)[\"']?([^\"')\s;]+)", path.read_text(encoding="utf-8"))
        found += [(path, address) for address in addresses if is_foreign(address)]
    return found


def main(site: Path) -> int:
    if not (site / "index.html").exists():
        print(f"{site} has no index.html: run `make site`", file=sys.stderr)  # noqa: T201
        return 1
    found = foreign_addresses(site)
    for path, address in found:
        print(f"{path.relative_to(site)} loads {address}", file=sys.stderr)  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

"""A reader of the drawn page, and the calls that the tests draw."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from duologue.core import events as ev
from duologue.lab.sim.demo_call import play_demo, stage_for_demo
from duologue.lab.sim.stage import Stage
from duologue.replay.picture import draw_picture
from duologue.replay.words_file import Spoken

VOID = ("meta", "br")


class Node:
    """An element of a page."""

    def __init__(self, name: str, attributes: dict[str, str | None]) -> None:
        self.name = name
        self.attributes = attributes
        self.children: list[Node] = []
        self.texts: list[str] = []

    def all(self, name: str = "", cls: str = "", **attributes: str) -> list[Node]:
        """Every element below with this name, class and attributes."""
        return [node for node in self.below() if node.matches(name, cls, attributes)]

    def one(self, name: str = "", cls: str = "", **attributes: str) -> Node:
        (found,) = self.all(name, cls, **attributes)
        return found

    def get(self, key: str) -> str:
        value = self.attributes[key]
        assert value is not None
        return value

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def title(self) -> str:
        """The tooltip."""
        return next(node for node in self.children if node.name == "title").text

    def below(self) -> Iterator[Node]:
        for child in self.children:
            yield child
            yield from child.below()

    def matches(self, name: str, cls: str, attributes: dict[str, str]) -> bool:
        classes = (self.attributes.get("class") or "").split()
        given = {key.replace("_", "-"): value for key, value in attributes.items()}
        named = not name or self.name == name
        return named and set(cls.split()) <= set(classes) and given.items() <= self.attributes.items()


class Page(HTMLParser):
    """Reads a page and insists that every element is closed where it should be."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("page", {})
        self.open_nodes = [self.root]
        self.feed(html)
        self.close()
        assert self.open_nodes == [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, dict(attrs))
        assert len(node.attributes) == len(attrs)
        self.open_nodes[-1].children.append(node)
        if tag not in VOID:
            self.open_nodes.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open_nodes[-1].children.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open_nodes.pop().name == tag

    def handle_data(self, data: str) -> None:
        for node in self.open_nodes:
            node.texts.append(data)


def page_of(stage: Stage, title: str = "call.jsonl", words: tuple[Spoken, ...] = (), complete: bool = True) -> Node:
    return Page(draw_picture(stage.records, title, words, complete)).root


def demo_stage() -> Stage:
    stage = stage_for_demo()
    for _ in play_demo(stage):
        pass
    return stage


def lane(page: Node, name: str) -> Node:
    return page.one("g", "lane", data_lane=name)


def call_data(page: Node) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(page.one("script", id="call").text)
    return data


def percent(node: Node, key: str) -> float:
    return float(node.get(key).removesuffix("%"))


def spoken_call() -> tuple[Stage, tuple[Spoken, ...]]:
    stage = Stage()
    stage.start()
    stage.say(for_ms=2_000)
    stage.think()
    stage.speak(1_200)
    stage.interrupt()
    stage.happen(ev.PlaybackStopped, heard_ms=1_240)
    stage.wait(8_000)
    words = (
        Spoken("user", 2_250, "Is it <script>alert(1)</script> & cold?", turn=1),
        Spoken("agent", 4_000, "It will be", 'mild" onload="x', reply=1, voice=1),
    )
    return stage, words


def hang_up(stage: Stage) -> None:
    stage.happen(ev.EndRequested)
    stage.happen(ev.SessionClosed)
    stage.wait(1_000)

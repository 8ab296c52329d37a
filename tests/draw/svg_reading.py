"""Reads the states, texts and curves of an SVG picture."""

from __future__ import annotations

import math
import re
from functools import cache
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from duologue.core.views import VIEWS
from duologue.draw import REGIONS, names, render
from duologue.draw.shapes import Box, Curve, Point
from duologue.draw.typography import FACES, text_width

SVG = "{http://www.w3.org/2000/svg}"


each_picture = pytest.mark.parametrize("name", names())


each_diagram = pytest.mark.parametrize("name", [*REGIONS, *VIEWS])


@cache
def source(name: str) -> str:
    return render(name, "svg")


@cache
def picture(name: str) -> Element:
    return ElementTree.fromstring(source(name))


def state_boxes(root: Element) -> list[tuple[str, Box]]:
    return [(rect.get("data-name", ""), rect_box(rect)) for rect in root.iter(f"{SVG}rect") if rect.get("data-name")]


def rect_box(rect: Element) -> Box:
    return Box(*(float(rect.get(key, "")) for key in ("x", "y", "width", "height")))


def text_boxes(root: Element) -> list[tuple[str, Box]]:
    return [(text.text or "", text_box(text)) for text in root.iter(f"{SVG}text")]


def text_box(text: Element) -> Box:
    """The room of a text; of a slanted one, the upright room around it."""
    face = text.get("class", "").split()[0]
    width, size = text_width(text.text or "", face), FACES[face].size
    x, y = float(text.get("x", "")), float(text.get("y", ""))
    slant = re.match(r"rotate\((-?\d+)", text.get("transform", ""))
    if slant:
        angle = math.radians(-int(slant[1]))
        rise = width * math.sin(angle) + size * math.cos(angle)
        return Box(x - size * math.sin(angle), y - rise, width * math.cos(angle) + size * math.sin(angle), rise)
    left = x - width / 2 if text.get("text-anchor") == "middle" else x
    return Box(left, y - size * 0.8, width, size)


def curves(root: Element) -> list[Curve]:
    paths = [path.get("d", "") for path in root.iter(f"{SVG}path") if "line" in path.get("class", "").split()]
    numbers = [[float(number) for number in re.findall(r"-?[\d.]+", path)] for path in paths]
    return [Curve(*(Point(*found[at : at + 2]) for at in (0, 2, 4, 6))) for found in numbers]


def contains(outer: Box, inner: Box) -> bool:
    return outer.x <= inner.x and outer.y <= inner.y and inner.right <= outer.right and inner.bottom <= outer.bottom

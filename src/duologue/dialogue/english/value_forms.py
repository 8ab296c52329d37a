"""How values are said in English."""

from __future__ import annotations

from ..language.value_forms import ValueForms

SPOKEN = ValueForms(
    months=tuple("January February March April May June July August September October November December".split()),
    date="{month} {day}",
    date_with_year="{month} {day}, {year}",
    clock="{hour} {half}",
    clock_with_minutes="{hour}:{minute} {half}",
    has_12_hours=True,
    units=tuple((unit, unit + "s") for unit in "year month week day hour minute second".split()),
    nights=(r"\bnights?\b", ("night", "nights")),
    no_time="no time",
    any="any",
    none="none",
    yes="yes",
    no="no",
    or_="or",
    and_="and",
    with_="with {label}",
    without="without {label}",
    at="at",
    decimal_mark=".",
    prompt="What is the {label}?",
    named="the {name}",
)

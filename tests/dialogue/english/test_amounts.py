"""Durations and money as people say them."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from tests.dialogue.english.grammar_replies import ask, said

DURATION = ask(SlotKind.DURATION, "How long will you stay?", "stay")

MONEY = ask(SlotKind.MONEY, "How much?", "amount")


@pytest.mark.req("D-06")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "two weeks": "P2W",
        "a week": "P1W",
        "three nights": "P3D",
        "a couple of nights": "P2D",
        "ten whole days": "P10D",
        "an hour and a half": "PT1H30M",
        "one and a half hours": "PT1H30M",
        "two and a half hours": "PT2H30M",
        "half an hour": "PT30M",
        "90 minutes": "PT90M",
        "an hour and twenty minutes": "PT1H20M",
        "a week and three days": "P10D",
        "a fortnight": "P2W",
        "six months": "P6M",
        "a year and six months": "P1Y6M",
        "for about four days I guess": "P4D",
        "a quarter of an hour": "PT15M",
        "three quarters of an hour": "PT45M",
        "the whole week": "P1W",
        "overnight": "P1D",
        "an hour fifteen": "PT1H15M",
        "a half hour or so": "PT30M",
    }.items(),
)
def test_a_duration_as_people_say_it(reply: str, value: str) -> None:
    assert said(DURATION, reply) == value


@pytest.mark.req("D-06")
@pytest.mark.parametrize(
    ("reply", "amount", "currency"),
    [
        ("$1,670", 1670, "USD"),
        ("fifty bucks", 50, "USD"),
        ("twelve dollars and fifty cents", 12.5, "USD"),
        ("twelve fifty dollars", 12.5, "USD"),
        ("£9.99 please", 9.99, "GBP"),
        ("twenty quid", 20, "GBP"),
        ("two hundred euros", 200, "EUR"),
        ("99 cents", 0.99, "USD"),
        ("a thousand dollars", 1000, "USD"),
        ("five grand", 5000, None),
        ("300", 300, None),
        ("twelve pounds fifty", 12.5, "GBP"),
        ("12 euros 50, please", 12.5, "EUR"),
        ("a tenner", 10, "GBP"),
        ("no more than eighty euros", 80, "EUR"),
        ("not more than a hundred", 100, None),
        ("a dollar fifty", 1.5, "USD"),
        ("a grand", 1000, None),
        ("a million euros", 1_000_000, "EUR"),
        ("hundred dollars", 100, "USD"),
    ],
)
def test_money_as_people_say_it(reply: str, amount: float, currency: str | None) -> None:
    assert said(MONEY, reply) == {"amount": amount, "currency": currency}


def test_twelve_fifty_may_be_two_amounts() -> None:
    assert said(MONEY, "twelve fifty") == [{"amount": 12.5, "currency": None}, {"amount": 1250, "currency": None}]


@pytest.mark.parametrize(
    ("reply", "amount"),
    {
        "1.200 euros": 1200,  # past bug: one euro twenty
        "€1.200": 1200,
        "1.200.000 euros": 1_200_000,
        "2.000,50 €": 2000.5,
        "12,50 €": 12.5,
        "1,200.50 dollars": 1200.5,
        "1.20 euros": 1.2,
        "0.125 euros": 0.12,
        "1.250 million euros": 1_250_000,
    }.items(),
)
def test_points_and_commas_of_money_are_read_both_ways(reply: str, amount: float) -> None:
    value = said(ask(SlotKind.MONEY), reply)
    assert value["amount"] == amount


@pytest.mark.req("D-04")
def test_another_week_is_a_duration_only_if_the_question_asks_for_more() -> None:
    longer = ask(SlotKind.DURATION, "How much longer do you need the car?")
    assert said(longer, "another two days") == "P2D"
    assert said(longer, "just another week") == "P1W"
    assert said(ask(SlotKind.DURATION, "For how long?"), "another week") is None

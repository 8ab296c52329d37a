"""The page of `duologue tune`: the recommendation in words, tables, and both decisions about each pause."""

from __future__ import annotations

from html.parser import HTMLParser

from duologue.lab.tune.changes import ChangedPause
from duologue.lab.tune.frontier import compare, compare_overlaps
from duologue.lab.tune.page import CHANGES_MAX, UNKNOWN, TunedCalls, page, verdict
from duologue.lab.tune.policies import RECORDED
from tests.lab.tune.decided_calls import call, end, middle

DECIDED = {
    RECORDED: [call(middle(300), end(400)) for _ in range(20)],
    "silence <700> ms": [call(middle(), end(700)) for _ in range(20)],
}
CHANGED = [ChangedPause("calls/<a>", middle(300), middle()), ChangedPause("b", end(400, 500), end(700, 500))]
TUNED = TunedCalls(compare(DECIDED), compare_overlaps(DECIDED), CHANGED, 20)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        for name, value in attrs:
            assert name not in ("src", "href"), f"the page needs another file: {value}"


def test_the_page_has_a_picture_tables_and_a_timeline_for_each_change_and_needs_no_other_file() -> None:
    reader = _Tags()
    reader.feed(page(TUNED))
    assert reader.seen.count("svg") == 1 + len(CHANGED)
    assert reader.seen.count("table") == 2
    assert reader.seen.count("figcaption") == 2


def test_the_page_says_what_it_cannot_know_and_escapes_names() -> None:
    text = page(TUNED)
    assert UNKNOWN in text
    assert "silence &lt;700&gt; ms" in text
    assert "<700>" not in text
    assert "<a>" not in text


def test_many_changes_are_cut_and_counted() -> None:
    text = page(TUNED._replace(changed=CHANGED * CHANGES_MAX))
    assert f"{len(CHANGED) * CHANGES_MAX - CHANGES_MAX} more are in the JSON output" in text


def test_the_verdict_says_how_sure_it_is() -> None:
    clear = compare(DECIDED).recommended
    assert verdict(clear).startswith("Recommended: silence <700> ms; per turn it saves 1700 ms")
    assert clear is not None
    assert "don't show clearly" in verdict(clear._replace(saved_range=(-5.0, 20.0)))
    assert verdict(clear._replace(saved_ms=0.0)).startswith("The recorded setting costs least, in ")
    assert verdict(None).startswith("Nothing is recommended")


def test_if_nothing_is_better_the_page_shows_what_the_next_best_setting_changes() -> None:
    text = page(TUNED._replace(other="quick"))
    assert "What would change with quick" in text
    assert "This is the next best one" in text


def test_columns_without_content_and_ranges_without_width_are_left_out() -> None:
    points = [point._replace(unknown=0, assumed=0, wait_range=(400.0, 400.0)) for point in TUNED.comparison.points]
    plain = page(TUNED._replace(comparison=TUNED.comparison._replace(points=tuple(points))))
    assert "wait assumed" not in plain
    assert "(400–400)" not in plain  # noqa: RUF001
    points[0] = points[0]._replace(unknown=1)
    assert "wait assumed" in page(TUNED._replace(comparison=TUNED.comparison._replace(points=tuple(points))))


def test_a_page_without_changes_says_so() -> None:
    assert "No pause is decided differently" in page(TUNED._replace(changed=[]))

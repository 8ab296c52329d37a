"""The page around the drawing: the header, the metrics, the transitions and the words of the conversation.

The page is one HTML file without external resources, and it is readable without its script. Rule: the same steps always
give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence

from duologue.core.leaves import Link
from duologue.core.views import EVERY_VIEW, PHASE, View
from duologue.observe.stereo_file import StereoSound
from duologue.observe.view_history import cause_of

from ..journal import StepRecord
from ..step_words import describe
from ..timeline import Timeline, read_timeline
from ..words_file import Spoken
from .cursor import all_fired, anchor_of, cursor_data, lanes_of, leaves_of, looks_of, row_text, shown_views
from .looks import LOOKS, look_of
from .markup import Html, data, join, raw, tag
from .scale import PX_PER_S_MAX, Scale, write_clock, write_length
from .script import SCRIPT
from .spans import newest, read_spans
from .strip import DrawnConversation, Strip, draw_strip
from .style import style_sheet

CUT = "The journal has no end: the call was cut off or is still running. It is shown up to its last event."
NOTHING = "No conversation has started yet."


def draw_picture(
    records: Sequence[StepRecord],
    title: str,
    words: Sequence[Spoken] = (),
    complete: bool = True,
    sound: StereoSound | None = None,
    view: View = PHASE,
) -> str:
    """The newest conversation in these steps, as a complete HTML file. If `sound` is given, the page plays this
    recording, and the cursor on the page moves along. The page has a lane of phases, and one of `view` if that is
    another view."""
    steps = newest(records)
    if not steps:
        return _page(title, 1, tag("header", tag("h1", title)), tag("p", NOTHING, class_="notice"))
    views = tuple(read_timeline(steps, EVERY_VIEW[name]) for name in shown_views(view.name))
    said = [spoken for spoken in words if spoken.at >= steps[0].event.at]
    talk = DrawnConversation(steps, views, read_spans(steps), said)
    notices = [] if complete else [tag("p", CUT, class_="notice", role="status")]
    return _page(
        title,
        talk.length_ms,
        _header(title, talk, earlier=len(records) - len(steps)),
        *notices,
        _metrics(talk.views[0]),
        *([] if sound is None else [_player(sound, steps[0].event.at)]),
        _lanes(draw_strip(talk), talk),
        *_transcript(talk),
        _transitions(talk),
        _rows(talk),
        data("call", {**cursor_data(steps, talk.length_ms, talk.view_names), "px": PX_PER_S_MAX}),
        raw("script", SCRIPT),
        plays=sound is not None,
    )


def _player(sound: StereoSound, began_at: int) -> Html:
    """An audio player with the recording. Its attribute data-offset is the time on the drawing at which the recording
    begins."""
    source = f"data:{sound.media_type};base64,{base64.b64encode(sound.data).decode()}"
    offset = str(sound.began_at - began_at)
    return tag("p", tag("audio", controls="", preload="metadata", src=source, data_offset=offset))


def _page(title: str, length_ms: int, *body: Html, plays: bool = False) -> str:
    own = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    media = "media-src data:; " if plays else ""
    policy = f"default-src 'none'; style-src 'unsafe-inline'; {media}script-src 'sha256-{own}'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{title} · Duologue timeline"),
        raw("style", style_sheet(Scale(length_ms))),
    )
    page = tag("html", head, "\n", tag("body", tag("main", join(body, "\n"))), lang="en")
    return f"<!doctype html>\n{page}\n"


def _header(title: str, talk: DrawnConversation, earlier: int) -> Html:
    timeline, last = talk.views[0], talk.records[-1].after
    facts = [
        write_length(timeline.session_ms),
        _count(timeline.turns, "turn"),
        _count(len(talk.records), "event"),
        f"profile {last.settings.name}",
        "ended" if last.link is Link.IDLE else f"the line is {last.link.value.replace('_', ' ')}",
    ]
    if earlier:
        facts.append(f"the newest call of its journal, after {_count(earlier, 'earlier event')}")
    return tag("header", tag("h1", title), tag("p", " · ".join(facts), class_="facts"))


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


# -- Numbers


def _metrics(timeline: Timeline) -> Html:
    m = timeline.metrics
    ended = m.calls_done + m.calls_failed
    entries = (
        ("first token", _mean(m.first_token_ms)),
        ("first audio", _mean(m.first_audio_ms)),
        ("turns", (str(m.turns), "")),
        ("requests", (str(m.requests), "")),
        ("sounds", (str(m.sounds), "")),
        ("interrupted", _share(m.interrupted, m.sounds, m.interruption_rate)),
        ("overheard", (str(m.overheard), "")),
        ("tool calls", (str(m.calls), "")),
        ("succeeded", _share(m.calls_done, ended, m.call_success_rate)),
        ("errors", (str(m.errors), "")),
        ("check-ins", (str(m.check_ins), "")),
        ("turns lost", (str(m.turns_lost), "")),
    )
    cells = [tag("div", tag("dt", name), tag("dd", value, " ", tag("small", note))) for name, (value, note) in entries]
    return tag("dl", *cells, class_="metrics", aria_label="Metrics")


def _mean(ms: int | None) -> tuple[str, str]:
    return ("none", "yet") if ms is None else (f"{ms:,}", "ms mean")


def _share(part: int, whole: int, rate: float | None) -> tuple[str, str]:
    return ("none", "yet") if rate is None else (f"{rate:.0%}", f"{part} of {whole}")


# -- The lanes and the cursor


def _lanes(strip: Strip, talk: DrawnConversation) -> Html:
    names = [
        tag("span", name.text, class_=name.group, style=f"top:{name.y}px;height:{name.height}px")
        for name in strip.names
    ]
    hint = "← → step through the events, + and - or Ctrl with the wheel zoom, a click fixes the cursor"
    scroller = tag(
        "div",
        tag("div", strip.drawing, strip.captions, tag("i", id="line", hidden=True), id="strip"),
        id="scroller",
        tabindex=0,
        role="group",
        aria_label=f"Lanes. {hint}.",
        aria_describedby="now",
    )
    zoom = tag(
        "div",
        tag("span", hint, class_="hint"),
        tag("button", "\u2212", type="button", data_zoom="out", aria_label="Zoom out"),
        tag("output", "1\u00d7", id="zoom"),
        tag("button", "+", type="button", data_zoom="in", aria_label="Zoom in"),
        tag("button", "Fit", type="button", data_zoom="fit"),
        class_="zoom",
    )
    frame = tag("div", tag("div", *names, class_="names"), scroller, class_="frame", style=f"--height:{strip.height}px")
    return tag("section", _title("Lanes", zoom), tag("div", frame, _now(talk), _legend(talk), class_="card"))


def _title(text: str, *more: Html) -> Html:
    return tag("div", tag("h2", text), *more, class_="title")


def _now(talk: DrawnConversation) -> Html:
    """A box that shows the state at the cursor. Until the cursor is moved, the box shows the state at the end of the
    conversation."""
    last = talk.records[-1]
    cells = [
        tag("div", tag("dt", lane), tag("dd", tag("span", text, class_=f"chip {look}")), data_lane=lane)
        for lane, text, look in looks_of(last.after, talk.view_names)
    ]
    at_ms = last.event.at - talk.began
    rows = [tag("code", row_text(number)[0]) for number in last.fired]
    return tag(
        "div",
        tag("p", tag("b", write_clock(at_ms)), " ", tag("span", "at the end of the call", id="when"), id="at"),
        tag("dl", *cells, class_="state"),
        tag("ul", tag("li", tag("b", cause_of(last.event)), *rows), id="fired"),
        id="now",
        aria_live="polite",
    )


def _legend(talk: DrawnConversation) -> Html:
    """The legend: every leaf (innermost state of a region) and every state of a view that occurs in the conversation,
    each with its colour."""
    seen: dict[str, set[str]] = {view.view: {visit.state for visit in view.visits} for view in talk.views}
    for lane in talk.views[0].lanes:
        seen[lane.region] = {state for visit in lane.visits for state in visit.state.split("+")}
    groups = []
    for lane_name in lanes_of(talk.view_names):
        keys = [
            tag("span", tag("i", class_=f"key {look}"), leaf.replace("_", " "))
            for leaf, look in LOOKS[lane_name].items()
            if leaf in seen[lane_name]
        ]
        groups.append(tag("div", tag("dt", lane_name), tag("dd", *keys)))
    return tag("details", tag("summary", "What the colours mean"), tag("dl", *groups, class_="legend"), open=True)


# -- What was said, and what moved


def _transcript(talk: DrawnConversation) -> Iterator[Html]:
    if not talk.words:
        return
    rows = []
    for spoken in sorted(talk.words, key=lambda spoken: spoken.at):
        at_ms = max(0, spoken.at - talk.began)
        who = "person" if spoken.kind == "user" else "agent"
        text = [spoken.text, *((" ", tag("s", spoken.unheard)) if spoken.unheard else ())]
        rows.append(tag("tr", _time(at_ms), tag("td", who, class_=f"who {spoken.kind}"), tag("td", *text)))
    head = tag("tr", *(tag("th", name, scope="col") for name in ("at", "who", "words")))
    note = tag("p", "Unheard words are struck through.", class_="note")
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="said")
    yield tag("section", _title("What was said", note), tag("div", table, class_="card"))


def _transitions(talk: DrawnConversation) -> Html:
    rows = [row for record in talk.records for row in _transition(record, talk)]
    names = ("at", "cause", "moves", "effects", "rows")
    head = tag("tr", *(tag("th", name, scope="col") for name in names))
    note = tag("p", "every step that changed a state or had an effect, with its cause", class_="note")
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="moves")
    return tag("section", _title("Transitions", note), _scrolls(table))


def _transition(record: StepRecord, talk: DrawnConversation) -> Iterator[Html]:
    before, after = leaves_of(record.before, talk.view_names), leaves_of(record.after, talk.view_names)
    moves = [
        tag("span", tag("small", f"{lane} {old.replace('_', ' ')} → "), _chip(lane, new), class_="move")
        for lane, old, new in zip(lanes_of(talk.view_names), before, after, strict=True)
        if old != new
    ]
    line = describe(record)
    done = ", ".join(line.done) if line else ""
    if moves or done:
        links = [tag("a", anchor_of(number), href=f"#{anchor_of(number)}") for number in record.fired]
        yield tag(
            "tr",
            _time(record.event.at - talk.began),
            tag("td", cause_of(record.event), class_="cause"),
            tag("td", *moves),
            tag("td", done),
            tag("td", join(links, " "), class_="links"),
        )


def _chip(lane: str, state: str) -> Html:
    leaf = state.split(" + ")[0].rpartition(" ")[2]
    return tag("span", state.replace("_", " "), class_=f"chip {look_of(lane, leaf)}")


def _time(at_ms: int) -> Html:
    return tag("td", write_clock(at_ms), class_="at", data_at=at_ms)


def _scrolls(table: Html) -> Html:
    """A card that can be scrolled with the keyboard, around a table."""
    return tag("div", table, class_="card scrolls", tabindex=0)


def _rows(talk: DrawnConversation) -> Html:
    rows = [
        tag(
            "tr",
            tag("td", fired.anchor, class_="at"),
            tag("td", fired.text, class_="cause"),
            tag("td", fired.does, class_="cause"),
            tag("td", fired.why),
            tag("td", f"{fired.times:,}", class_="at"),
            id=fired.anchor,
        )
        for fired in all_fired(talk.records)
    ]
    head = tag("tr", *(tag("th", name, scope="col") for name in ("", "row", "does", "why", "times")))
    note = tag("p", "all behaviour of this call; `duologue rows` prints them", class_="note")
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="rows")
    return tag("section", _title("Rows and rules that fired", note), _scrolls(table))

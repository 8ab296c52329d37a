"""The drawing of a conversation. Views, regions, requests, faults and events are lanes over one time axis.

The drawing is static SVG with positions in percentages. Every mark has a title, which says what happened, when, for how
long and why. Rule: a label that doesn't fit at any zoom is omitted. Nothing is lost by that, because the titles and the
tables below the drawing contain everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from duologue.core.events import PlaybackProgressed
from duologue.draw.typography import text_width
from duologue.observe.view_history import cause_of

from ..journal import StepRecord
from ..timeline import Timeline, Visit
from ..words_file import Spoken
from .looks import AMBER, RED, ROSE, VIOLET, hue_of_event, is_rest, look_of
from .markup import Html, join, tag
from .scale import Scale, write_clock, write_length
from .spans import CUT, GOES_ON, RequestSpan, SoundSpan, Spans, WorkSpan

_AXIS = 26
_GAP = 12  # between two groups of lanes
_BAR = 20
_TALL = 28  # the bars of the voice are taller, because they also show how much was heard
_PAD = 4
_LINE = 17  # height of a line of words
_CAPTION_PX = 72
_DOTS_PX, _HEAD_PX, _PROGRESS_PX = 30, 7, 4  # marks are drawn only with at least this much room
_OUTCOME_HUES = {"heard": VIOLET, "shown": AMBER, "made a call": ROSE, GOES_ON: AMBER}


class LaneName(NamedTuple):
    """The name of a lane and its position."""

    text: str
    y: int
    height: int
    group: str


class Strip(NamedTuple):
    """The drawing, and the names of its lanes. The names stay in place when the drawing is scrolled."""

    height: int
    names: tuple[LaneName, ...]
    drawing: Html
    captions: Html


class DrawnConversation(NamedTuple):
    """All the data of a conversation from which it is drawn."""

    records: Sequence[StepRecord]
    views: tuple[Timeline, ...]
    spans: Spans
    words: Sequence[Spoken]

    @property
    def began(self) -> int:
        return self.records[0].event.at

    @property
    def view_names(self) -> tuple[str, ...]:
        return tuple(view.view for view in self.views)

    @property
    def length_ms(self) -> int:
        return self.views[0].length_ms


def draw_strip(talk: DrawnConversation) -> Strip:
    """Draw all lanes, from top to bottom."""
    strip = _Drawing(Scale(talk.length_ms))
    for view in talk.views:
        strip.lane(view.view, "view", _BAR)
        strip.visits(view.visits)
    strip.gap()
    for lane in talk.views[0].lanes:
        _draw_region(strip, talk, lane.region, lane.visits)
    strip.gap()
    strip.lane("requests", "detail", _BAR)
    for request in talk.spans.requests:
        strip.request(request)
    if talk.spans.cues:
        strip.lane("cues", "detail", _BAR)
        for cue in talk.spans.cues:
            strip.bar(f"{VIOLET} soft", "", cue.at_ms, cue.at_ms, f"cue: {cue.what}", cue.cause)
    if talk.spans.faults:
        strip.lane("faults", "detail", _BAR)
        for what in talk.spans.faults:
            label = f"fault: {what.what}"
            strip.bar(f"{RED} full", label, what.since_ms, what.end_ms, label, what.cause)
    strip.lane("events", "detail", _TALL)
    strip.events(talk)
    return strip.finish()


def _draw_region(strip: _Drawing, talk: DrawnConversation, region: str, visits: tuple[Visit, ...]) -> None:
    if region == "jobs":
        tracks = _side_by_side(talk.spans.calls)
        strip.lane(region, "region", (_BAR + _PAD) * max(1, len(tracks)) - _PAD)
        strip.visits(visit for visit in visits if is_rest(region, visit.state))
        for number, track in enumerate(tracks):
            strip.calls(track, number * (_BAR + _PAD))
        return
    strip.lane(region, "region", _TALL if region == "voice" else _BAR)
    strip.visits(visits)
    if region == "voice":
        strip.sounds(talk.spans.sounds)
    if talk.words and region in ("user", "voice"):
        strip.words([_placed(spoken, talk) for spoken in talk.words if (spoken.kind == "user") == (region == "user")])


def _placed(spoken: Spoken, talk: DrawnConversation) -> tuple[int, Spoken]:
    """The time at which to draw these words, and the words. The time is the start of the turn or sound that the words
    belong to. If that start is unknown, the time in the words file is used."""
    turns = [turn.since_ms for turn in talk.spans.turns if turn.turn == spoken.turn]
    sounds = [sound.since_ms for sound in talk.spans.sounds if sound.voice == spoken.voice]
    known = turns if spoken.kind == "user" else sounds
    at_ms = known[0] if known else spoken.at - talk.began
    return min(max(0, at_ms), talk.length_ms), spoken


def _side_by_side(calls: Iterable[WorkSpan]) -> list[list[WorkSpan]]:
    """The tool calls, distributed over as few tracks as possible, so that calls on the same track don't overlap in
    time."""
    tracks: list[list[WorkSpan]] = []
    for call in sorted(calls, key=lambda call: call.since_ms):
        free = next((track for track in tracks if track[-1].end_ms <= call.since_ms), None)
        if free is None:
            tracks.append([call])
        else:
            free.append(call)
    return tracks


class _Drawing:
    """Builds the drawing, lane by lane from the top."""

    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        self._y = _AXIS + _PAD
        self._bottom = self._y
        self._names: list[LaneName] = []
        self._lanes: list[tuple[str, list[Html]]] = []
        self._captions: list[Html] = []

    # -- Lanes

    def lane(self, name: str, group: str, height: int) -> None:
        self._y = self._bottom
        self._height = height
        self._bottom += height + 2 * _PAD
        self._names.append(LaneName(name, self._y, height, group))
        self._lanes.append((name, []))

    def gap(self) -> None:
        self._bottom += _GAP

    def finish(self) -> Strip:
        height = self._bottom + _PAD
        lanes = [tag("g", *marks, class_="lane", data_lane=name) for name, marks in self._lanes]
        label = "The conversation over time: the views, the five regions, requests and events"
        drawing = tag(
            "svg",
            tag("title", label),
            _hatch(),
            *self._axis(height),
            *lanes,
            class_="drawing",
            role="img",
            width="100%",
            height=height,
        )
        return Strip(height, tuple(self._names), drawing, join(self._captions))

    def _add(self, mark: Html) -> None:
        self._lanes[-1][1].append(mark)

    def _axis(self, height: int) -> list[Html]:
        marks = []
        for tick in self.scale.ticks():
            x = self.scale.percent(tick.at_ms)
            line = tag("line", class_="grid", x1=x, x2=x, y1=_AXIS - 4, y2=height)
            text = tag("text", tick.text, x=x, dx=0 if not tick.at_ms else 4, y=_AXIS - 9)
            marks.append(tag("g", line, text, class_=f"tick {tick.seen}"))
        return marks

    # -- Bars

    def visits(self, visits: Iterable[Visit]) -> None:
        name = self._names[-1].text
        for visit in visits:
            about = f"{name}: {visit.state.replace('_', ' ')}"
            look = look_of(name, visit.state)
            if is_rest(name, visit.state):
                self._rest(look, visit, about)
            else:
                label = visit.state.replace("_", " ")
                self.bar(look, label, visit.since_ms, visit.end_ms, about, visit.cause)

    def _rest(self, look: str, visit: Visit, about: str) -> None:
        x1, x2 = self.scale.percent(visit.since_ms), self.scale.percent(visit.end_ms)
        y = self._y + (self._height if self._height == _TALL else _BAR) / 2
        line = tag("line", x1=x1, x2=x2, y1=y, y2=y)
        self._add(tag("g", _title(about, visit.since_ms, visit.end_ms, visit.cause), line, class_=look))

    def bar(self, look: str, label: str, since_ms: int, end_ms: int, about: str, cause: str, down: int = 0) -> None:
        """Draw a bar. Its left edge is drawn with a fixed width, so that even a very short bar is visible."""
        x, width, y = self.scale.percent(since_ms), self.scale.percent(end_ms - since_ms), self._y + down
        height = min(self._height, _TALL if self._height == _TALL else _BAR)
        marks = [tag("rect", x=x, y=y, width=width, height=height, rx=3)]
        if look.endswith("hatch"):
            marks.append(tag("rect", class_="stripes", x=x, y=y, width=width, height=height, rx=3))
        marks.append(tag("rect", class_="edge", x=x, y=y, width=2, height=height, rx=1))
        marks += self._text(label, since_ms, end_ms, y + height / 2 + 4, "on")
        self._add(tag("g", _title(about, since_ms, end_ms, cause), *marks, class_=f"bar {look}"))

    def _text(self, text: str, since_ms: int, end_ms: int, y: float, name: str, before: bool = False) -> list[Html]:
        """A label at the start of this time span, or at its end if `before` is true. The list is empty if the label
        doesn't fit at any width."""
        seen = self.scale.seen(text_width(text, "small") + 12, end_ms - since_ms)
        if seen is None:
            return []
        place = {"x": self.scale.percent(end_ms if before else since_ms), "dx": -7 if before else 7, "y": f"{y:g}"}
        anchor = "end" if before else None
        return [tag("text", text, class_=f"{name} {seen}", text_anchor=anchor, **place)]

    def calls(self, calls: Sequence[WorkSpan], down: int) -> None:
        for call in calls:
            for stay in call.stays:
                last = stay is call.stays[-1]
                label = f"{call.call} {stay.state}" + (f", {call.outcome}" if last else "")
                about = f"call {call.call}: {stay.state}" + (f", then {call.outcome}" if last else "")
                self.bar(look_of("jobs", stay.state), label, stay.since_ms, stay.end_ms, about, stay.cause, down)
            done = call.outcome in ("done", GOES_ON)
            if call.outcome != GOES_ON:
                self._dot(
                    call.end_ms, self._y + down + _BAR / 2, ROSE if done else RED, f"call {call.call}: {call.outcome}"
                )

    def _dot(self, at_ms: int, y: float, look: str, about: str, radius: float = 3.5) -> None:
        circle = tag("circle", cx=self.scale.percent(at_ms), cy=f"{y:g}", r=radius)
        self._add(tag("g", tag("title", f"{about}\n{write_clock(at_ms)}"), circle, class_=f"dot {look}"))

    # -- Sounds

    def sounds(self, sounds: Sequence[SoundSpan]) -> None:
        """Draw how much of each sound was heard, as a rising area inside the bar of the sound. If a sound was cut
        short, a mark is drawn at its end."""
        for number, sound in enumerate(sounds):
            self._add(self._progress(sound))
            if sound.outcome == CUT:
                next_ms = sounds[number + 1].since_ms if number + 1 < len(sounds) else self.scale.length_ms
                self._cut(sound, next_ms)

    def _progress(self, sound: SoundSpan) -> Html:
        """The rising area for one sound. Its coordinates are milliseconds; SVG scales them to the size of the bar."""
        length_ms = max(1, sound.end_ms - sound.since_ms)
        full_ms = max(length_ms, sound.heard_ms)
        points = [(at_ms - sound.since_ms, full_ms - heard_ms) for at_ms, heard_ms in sound.progress]
        path = f"M0 {full_ms}" + "".join(f"L{x} {y}" for x, y in points) + f"L{length_ms} {full_ms}Z"
        about = f"voice {sound.voice}: heard {sound.heard_ms} ms, {sound.outcome}"
        return tag(
            "svg",
            _title(about, sound.since_ms, sound.end_ms, ""),
            tag("path", d=path),
            class_=f"heard {VIOLET}",
            data_heard=sound.heard_ms,
            x=self.scale.percent(sound.since_ms),
            width=self.scale.percent(sound.end_ms - sound.since_ms),
            y=self._y,
            height=self._height,
            viewBox=f"0 0 {length_ms} {full_ms}",
            preserveAspectRatio="none",
        )

    def _cut(self, sound: SoundSpan, next_ms: int) -> None:
        x, label, y = self.scale.percent(sound.end_ms), f"heard {sound.heard_ms} ms", self._y + self._height / 2 + 4
        line = tag("line", x1=x, x2=x, y1=self._y - 3, y2=self._y + self._height + 3)
        text = self._text(label, sound.end_ms, next_ms, y, "mark")
        if not text:  # there is no room after the sound, because the call ends here
            text = self._text(label, sound.since_ms, sound.end_ms, y, "mark", before=True)
        about = f"voice {sound.voice} was cut short\n{label} of it\n{write_clock(sound.end_ms)}, by {sound.cut_by}"
        self._add(tag("g", tag("title", about), line, *text, class_=f"cut {RED}"))

    # -- Requests and events

    def request(self, request: RequestSpan) -> None:
        hue = _OUTCOME_HUES.get(request.outcome, RED)
        x1, x2 = self.scale.percent(request.since_ms), self.scale.percent(request.end_ms)
        y = self._y + _BAR - 4
        about = f"request {request.reply} ({request.asks}): {request.outcome}"
        for what, at_ms in (("first token", request.token_ms), ("first audio", request.audio_ms)):
            about += f"\n{what} after {write_length(at_ms - request.since_ms)}" if at_ms is not None else ""
        line = tag("line", x1=x1, x2=x2, y1=y, y2=y)
        start = tag("line", x1=x1, x2=x1, y1=y - 5, y2=y + 5)
        label = self._text(f"{request.asks}: {request.outcome}", request.since_ms, request.end_ms, self._y + 8, "mark")
        title = _title(about, request.since_ms, request.end_ms, "")
        self._add(tag("g", title, line, start, *label, class_=f"request {AMBER}"))
        room = self.scale.seen(_DOTS_PX, request.end_ms - request.since_ms)
        for what, moment_ms in (("first token", request.token_ms), ("first audio", request.audio_ms)):
            if moment_ms is not None and room:
                self._dot(moment_ms, y, f"{AMBER} {room}", f"request {request.reply}: {what}", 2.5)
        if request.outcome != GOES_ON:
            self._dot(request.end_ms, y, hue, f"request {request.reply}: {request.outcome}")

    def events(self, talk: DrawnConversation) -> None:
        """Draw one tick for each instant at which there were events. The tick has the names of all events at that
        instant."""
        instants = [(at, list(group)) for at, group in groupby(talk.records, lambda record: record.event.at)]
        ends = [at - talk.began for at, _ in instants[1:]] + [talk.length_ms]
        for (at, records), next_ms in zip(instants, ends, strict=True):
            self._instant(at - talk.began, next_ms, records)

    def _instant(self, at_ms: int, next_ms: int, records: list[StepRecord]) -> None:
        names = [_event_name(record) for record in records]
        telling = [record for record in records if record.after is not record.before]
        hue = hue_of_event((telling or records)[-1].event)
        x, top, bottom = self.scale.percent(at_ms), self._y + 6, self._y + _TALL
        if telling and all(isinstance(record.event, PlaybackProgressed) for record in telling):
            look = f"{hue} quiet {self.scale.seen(_PROGRESS_PX, next_ms - at_ms) or 'never'}"
            marks = [tag("line", x1=x, x2=x, y1=bottom - 9, y2=bottom)]
        else:
            look = hue if telling else f"{hue} ignored"
            room = self.scale.seen(_HEAD_PX, next_ms - at_ms)
            marks = [tag("line", x1=x, x2=x, y1=top, y2=bottom)]
            marks += [tag("circle", class_=f"head {room}", cx=x, cy=top, r=2.5)] if room else []
            marks += self._text(" + ".join(names), at_ms, next_ms, self._y + 10, "mark")
        title = tag("title", "\n".join((write_clock(at_ms), *names)))
        self._add(tag("g", title, *marks, class_=f"event {look}", data_at=at_ms))

    # -- Words

    def words(self, placed: list[tuple[int, Spoken]]) -> None:
        """Draw a line of captions below the bars. Each caption ends where the next one begins."""
        placed.sort(key=lambda pair: pair[0])
        top = self._bottom - 2
        self._bottom += _LINE
        ends = [*(at_ms for at_ms, _ in placed[1:]), self.scale.length_ms]
        # Not strict: without words, `ends` still has one entry.
        for (at_ms, spoken), end_ms in zip(placed, ends, strict=False):
            seen = self.scale.seen(_CAPTION_PX, end_ms - at_ms)
            if seen is None:
                continue
            text: list[str] = [spoken.text]
            if spoken.unheard:
                text += [" " if spoken.text else "", tag("s", spoken.unheard)]
            place = f"left:{self.scale.percent(at_ms)};width:{self.scale.percent(end_ms - at_ms)};top:{top}px"
            title = " ".join(part for part in (spoken.text, spoken.unheard and f"(unheard: {spoken.unheard})") if part)
            self._captions.append(tag("p", *text, class_=f"caption {spoken.kind} {seen}", style=place, title=title))


def _title(about: str, since_ms: int, end_ms: int, cause: str) -> Html:
    span = f"{write_clock(since_ms)} to {write_clock(end_ms)}, {write_length(end_ms - since_ms)}"
    return tag("title", "\n".join((about, span, f"because of {cause}") if cause else (about, span)))


def _event_name(record: StepRecord) -> str:
    ignored = " (ignored)" if record.after is record.before else ""
    return cause_of(record.event) + ignored


def _hatch() -> Html:
    stripe = tag("path", d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5", class_="stripe")
    size = {"width": 6, "height": 6, "patternUnits": "userSpaceOnUse"}
    return tag("defs", tag("pattern", stripe, id="stripes", **size))

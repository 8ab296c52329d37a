"""The style sheet of the page, for the light and the dark colour scheme.

Rule: `looks` defines the colours, and `scale` defines the smallest width at which a mark is visible.
"""

from __future__ import annotations

from .looks import INK, PAPER, colours
from .scale import Scale

_SHADES = {
    "paper": PAPER,
    "ink": INK,
    "ground": ("#f4f6f8", "#090c10"),
    "rim": ("#dde2e8", "#262d36"),
    "faintest": ("#eceff2", "#1a2028"),
    "muted": ("#5c6670", "#98a2ad"),
    "warn": ("#fff6e0", "#2d2410"),
}
_FONTS = (
    '--sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; '
    '--mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;'
)


def style_sheet(scale: Scale) -> str:
    """The whole style sheet for a conversation on this scale."""
    return "\n".join(
        [
            *_scheme(night=False),
            "@media (prefers-color-scheme: dark) {",
            *_scheme(night=True),
            "}",
            _RULES.strip(),
            *(
                f"@container strip (min-width: {width}px) {{ .w{number} {{ display: inline; }} }}"
                for number, width in enumerate(scale.widths())
            ),
        ]
    )


def _scheme(night: bool) -> list[str]:
    shades = " ".join(f"--{name}: {both[night]};" for name, both in _SHADES.items())
    return [f":root {{ color-scheme: {'dark' if night else 'light'}; {_FONTS} {shades} }}", *colours(night)]


_RULES = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 14px/1.5 var(--sans); }
main { max-width: 1680px; margin: 0 auto; padding: 28px 28px 56px; }
h1 { margin: 0; font-size: 22px; font-weight: 650; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { margin: 0; font-size: 15px; font-weight: 650; }
p { margin: 0; }
small { font-size: 11.5px; color: var(--muted); font-weight: 400; }
a { color: inherit; text-decoration-color: var(--rim); text-underline-offset: 2px; }
section { margin-top: 28px; }
.facts, .note, .hint { color: var(--muted); }
.notice { margin-top: 16px; padding: 10px 14px; border: 1px solid var(--rim); border-radius: 8px;
  background: var(--warn); }
.title { display: flex; align-items: baseline; gap: 12px; margin-bottom: 10px; min-height: 28px; }
.title .note { font-size: 13px; }
.card { background: var(--paper); border: 1px solid var(--rim); border-radius: 10px; overflow: hidden; }
:focus-visible { outline: 2px solid #4c8dff; outline-offset: -2px; }

.metrics { display: grid; grid-template-columns: repeat(6, 1fr); gap: 1px; margin: 20px 0 0;
  background: var(--rim); border: 1px solid var(--rim); border-radius: 10px; overflow: hidden; }
.metrics > div { background: var(--paper); padding: 10px 14px; }
.metrics dt { font-size: 12px; color: var(--muted); }
.metrics dd { margin: 0; font-size: 19px; font-weight: 600; font-variant-numeric: tabular-nums; white-space: nowrap; }

.zoom { display: none; align-items: center; gap: 6px; margin-left: auto; }
.live .zoom { display: flex; }
.hint { font-size: 12px; margin-right: 8px; }
.zoom output { min-width: 40px; text-align: center; font-variant-numeric: tabular-nums; }
button { font: inherit; color: inherit; min-width: 30px; height: 28px; padding: 0 9px; border: 1px solid var(--rim);
  border-radius: 7px; background: var(--paper); cursor: pointer; }
button:hover { background: var(--faintest); }

.frame { display: grid; grid-template-columns: 112px minmax(0, 1fr); }
.names { position: relative; height: var(--height); border-right: 1px solid var(--rim); }
.names span { position: absolute; left: 16px; display: flex; align-items: center; font-size: 12.5px; }
.names .region { font-weight: 600; }
.names .view, .names .detail { color: var(--muted); }
#scroller { overflow-x: auto; overflow-y: hidden; cursor: crosshair; }
#strip { position: relative; width: calc(100% * var(--zoom, 1)); min-width: 100%; height: var(--height);
  container: strip / inline-size; }
#line { position: absolute; top: 20px; bottom: 0; width: 1px; background: var(--ink); opacity: .7;
  pointer-events: none; }
#line[hidden] { display: none; }
.drawing { display: block; overflow: visible; font-size: 11px; }
.drawing text { font-family: var(--sans); fill: var(--muted); pointer-events: none; }
[class*=" w"] { display: none; }
.grid { stroke: var(--faintest); stroke-width: 1; }
.tick text { font-variant-numeric: tabular-nums; }

.full { --fill: var(--body); --letters: var(--on); }
.soft, .hatch { --fill: var(--soft); --letters: var(--deep); }
.faint { --fill: var(--faint); --letters: var(--deep); }
.rest line { stroke: var(--strong); stroke-width: 1.5; opacity: .45; }
.idle line { stroke-dasharray: 1 4; }
.never { display: none; }
.bar rect { fill: var(--fill); }
.bar .edge { fill: var(--strong); opacity: .55; }
.bar.full .edge { opacity: 1; }
.bar .stripes { fill: url(#stripes); }
.bar .on { fill: var(--letters); }
.stripe { stroke: var(--paper); stroke-width: 1.6; opacity: .75; }
.heard path { fill: #000; opacity: .16; }
.cut line { stroke: var(--strong); stroke-width: 2; }
.drawing .mark { fill: var(--muted); stroke: var(--paper); stroke-width: 4; stroke-linejoin: round;
  paint-order: stroke; }
.drawing .cut .mark { fill: var(--strong); }
.dot circle { fill: var(--strong); stroke: var(--paper); stroke-width: 1; }
.request line { stroke: var(--strong); stroke-width: 1.5; opacity: .75; }
.event line { stroke: var(--strong); stroke-width: 1; opacity: .55; }
.event circle { fill: var(--strong); }
.event.quiet line { opacity: .3; }
.event.ignored line { opacity: .2; }
.event.ignored circle { fill: var(--paper); stroke: var(--strong); }
.caption { position: absolute; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; padding-right: 8px;
  font-size: 12px; line-height: 17px; pointer-events: auto; }
s { color: var(--muted); text-decoration-thickness: 1px; }

.chip { display: inline-block; padding: 0 7px; border-radius: 5px; font-size: 12px; line-height: 19px;
  white-space: nowrap; background: var(--fill, transparent); color: var(--letters, var(--muted)); }
.chip.rest { padding: 0 1px; }
.chip.hatch, .key.hatch {
  background-image: repeating-linear-gradient(135deg, transparent 0 3px, var(--paper) 3px 4px); }
#now { border-top: 1px solid var(--rim); padding: 12px 16px 14px; }
.live #now { height: 208px; overflow-y: auto; }
#at { color: var(--muted); }
#at b { color: var(--ink); font-variant-numeric: tabular-nums; }
.state { display: flex; flex-wrap: wrap; gap: 8px 24px; margin: 8px 0 0; }
.state > div { min-width: 88px; }
.state dt { color: var(--muted); font-size: 12px; }
.state dd { margin: 0; min-height: 22px; }
#fired { list-style: none; margin: 12px 0 0; padding: 0; }
#fired li + li { margin-top: 8px; }
#fired span { color: var(--muted); white-space: pre; }
code, .cause { font: 12px/1.55 var(--mono); }
#fired code { display: block; overflow-wrap: anywhere; }
#fired em { color: var(--muted); font-style: normal; font-family: var(--sans); white-space: pre; }

details { border-top: 1px solid var(--rim); padding: 10px 16px; }
summary { color: var(--muted); font-size: 12.5px; cursor: pointer; }
.legend { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 5px 32px; margin: 10px 0 2px;
  font-size: 12.5px; }
.legend div { display: grid; grid-template-columns: 96px 1fr; }
.legend dt { color: var(--muted); }
.legend dd { margin: 0; display: flex; flex-wrap: wrap; align-content: start; gap: 2px 16px; }
.key { display: inline-block; width: 18px; height: 11px; margin-right: 6px; border-radius: 3px; vertical-align: -1px;
  background: var(--fill); }
.key.rest { height: 2px; vertical-align: 4px; background: var(--strong); opacity: .5; }
.key.idle { background: repeating-linear-gradient(90deg, var(--strong) 0 1px, transparent 1px 4px); }

table { border-collapse: collapse; width: 100%; font-size: 13px; }
th { position: sticky; top: 0; background: var(--paper); color: var(--muted); font-size: 12px; font-weight: 400;
  text-align: left; box-shadow: inset 0 -1px var(--rim); }
th, td { padding: 6px 12px; vertical-align: top; }
th:first-child, td:first-child { padding-left: 16px; }
td { border-top: 1px solid var(--faintest); }
tbody tr:first-child td { border-top: 0; }
.at { font-variant-numeric: tabular-nums; white-space: nowrap; color: var(--muted); }
.live td[data-at] { cursor: pointer; }
.here td { background: var(--faintest); }
.scrolls { max-height: 620px; overflow: auto; }
.cause { white-space: nowrap; }
.rows .cause { white-space: normal; overflow-wrap: anywhere; }
.move { display: inline-block; margin: 0 14px 2px 0; white-space: nowrap; }
.links { font: 11.5px/1.6 var(--mono); color: var(--muted); }
.who { color: var(--muted); white-space: nowrap; }
tr:target td { background: var(--warn); }
@media (max-width: 980px) { .metrics { grid-template-columns: repeat(4, 1fr); } }
@media (max-width: 760px) {
  .metrics { grid-template-columns: repeat(2, 1fr); }
  main { padding: 16px 12px 40px; }
  .frame { grid-template-columns: 96px minmax(0, 1fr); }
  .names span { left: 10px; font-size: 12px; }
  .hint { display: none; }
  .legend { grid-template-columns: minmax(0, 1fr); }
  .card { overflow-x: auto; }
}
"""

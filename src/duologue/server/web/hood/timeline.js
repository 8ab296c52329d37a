// The lanes on a canvas: they scroll while live, and stand still while the user looks at an earlier step.
//
// A click selects the step at that time. Rule: the canvas shows nothing that the list of steps doesn't show, so it
// is hidden from screen readers, which use the slider.

import { make } from "../dom.js";
import { causeOf, stepAt } from "./lanes.js";
import { LANES, lookOf } from "./looks.js";

const NAMES = 104;
const TOP = 26;
const LANE = 34;
const BAR = 20;
const FOOT = 26;
const WINDOWS_MS = [5000, 15000, 30000, 60000, 180000, 600000];
const HUES = ["teal", "violet", "amber", "rose", "blue", "red", "quiet", "ink", "muted", "rim", "paper", "ground"];

export class Timeline {
  constructor({ lanes, pick, text }) {
    this.lanes = lanes;
    this.canvas = make("canvas.lanes", { "aria-hidden": "true" });
    this.paper = this.canvas.getContext("2d");
    this.scale = 2;
    this.end = 0; // the end of the window as drawn; it follows the real end smoothly
    this.height = TOP + LANE * LANES.length + FOOT;
    this.canvas.onclick = ({ offsetX }) => this.moments?.length && pick(stepAt(this.moments, this.timeAt(offsetX)));
    this.closer = make("button.small.square", { type: "button", "aria-label": text("closer"), onclick: () => this.zoom(-1) }, "+");
    this.wider = make("button.small.square", { type: "button", "aria-label": text("wider"), onclick: () => this.zoom(1) }, "−");
    document.addEventListener("duologue.theme", () => (this.colours = null));
    this.zoom(0);
  }

  zoom(step) {
    this.scale = Math.max(0, Math.min(WINDOWS_MS.length - 1, this.scale + step));
    this.closer.disabled = this.scale === 0;
    this.wider.disabled = this.scale === WINDOWS_MS.length - 1;
  }

  get span() {
    return WINDOWS_MS[this.scale];
  }

  timeAt(x) {
    return this.end - this.span + ((x - NAMES) / (this.width - NAMES)) * this.span;
  }

  xAt(time) {
    return NAMES + ((time - this.end + this.span) / this.span) * (this.width - NAMES);
  }

  /** `now` is the end of the timeline, `cursor` the selected time or null, `still` turns off smooth motion. */
  draw(moments, now, cursor, decisions, still) {
    this.moments = moments;
    const latest = now + this.span * 0.03;
    const goal = Math.max(this.span, cursor === null ? latest : Math.min(cursor + this.span / 2, latest));
    const far = Math.abs(goal - this.end) > this.span;
    this.end = far || still ? goal : this.end + (goal - this.end) * 0.25;
    this.fit();
    this.colours ??= readColours(this.canvas);
    const { paper } = this;
    paper.clearRect(0, 0, this.width, this.height);
    this.axis();
    const visits = this.lanes.read(moments);
    LANES.forEach((lane, index) => this.lane(lane, visits[lane], TOP + index * LANE + (index ? 6 : 0), now));
    this.marks(decisions, moments);
    this.names();
    if (cursor !== null) this.cursor(cursor);
  }

  fit() {
    const ratio = Math.min(3, devicePixelRatio || 1);
    this.width = this.canvas.clientWidth || 600;
    const pixels = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (this.canvas.width !== pixels[0] || this.canvas.height !== pixels[1]) [this.canvas.width, this.canvas.height] = pixels;
    this.paper.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  axis() {
    const { paper, colours } = this;
    const step = [500, 1000, 2000, 5000, 10000, 20000, 30000, 60000, 120000].find((ms) => (ms / this.span) * (this.width - NAMES) > 76) ?? 120000;
    paper.font = `11.5px ${this.font}`;
    paper.textBaseline = "middle";
    for (let time = Math.max(0, Math.ceil((this.end - this.span) / step) * step); time <= this.end; time += step) {
      const x = this.xAt(time);
      paper.fillStyle = colours.rim;
      paper.fillRect(Math.round(x), TOP - 4, 1, this.height - TOP);
      paper.fillStyle = colours.muted;
      if (x < this.width - 36) paper.fillText(clock(time, step < 1000), x + 5, 11);
    }
  }

  lane(lane, visits, top, now) {
    const first = Math.max(0, visits.findLastIndex(({ from }) => from <= this.end - this.span));
    for (let index = first; index < visits.length && visits[index].from < this.end; index += 1) {
      const { state, from } = visits[index];
      const left = Math.max(NAMES, this.xAt(from));
      const right = Math.min(this.width, this.xAt(visits[index + 1]?.from ?? now));
      if (right > left) this.bar(lookOf(lane, state), state, left, Math.max(right - left, 1.5), top);
    }
  }

  bar({ hue, tone }, state, x, width, top) {
    const { paper, colours } = this;
    const y = top + (LANE - BAR) / 2;
    paper.fillStyle = colours[hue];
    if (tone === "rest") {
      paper.globalAlpha = 0.45;
      paper.fillRect(x, y + BAR / 2 - 0.75, width, 1.5);
      paper.globalAlpha = 1;
      return;
    }
    paper.globalAlpha = { full: 1, soft: 0.42, faint: 0.18, hatch: 0.16 }[tone];
    paper.beginPath();
    paper.roundRect(x, y, width, BAR, Math.min(4, width / 2));
    paper.fill();
    paper.globalAlpha = 1;
    if (tone === "hatch") this.hatch(hue, x, y, width);
    if (width > state.length * 6.6 + 14) {
      paper.fillStyle = tone === "full" ? colours.paper : colours.ink;
      paper.fillText(state, x + 7, y + BAR / 2 + 0.5);
    }
  }

  hatch(hue, x, y, width) {
    const { paper, colours } = this;
    paper.save();
    paper.beginPath();
    paper.roundRect(x, y, width, BAR, Math.min(4, width / 2));
    paper.clip();
    paper.strokeStyle = colours[hue];
    paper.globalAlpha = 0.55;
    paper.lineWidth = 1.2;
    paper.beginPath();
    for (let at = Math.floor(x / 6) * 6 - BAR; at < x + width; at += 6) {
      paper.moveTo(at, y + BAR);
      paper.lineTo(at + BAR, y);
    }
    paper.stroke();
    paper.restore();
  }

  /** Events as ticks, decisions as dots above them. */
  marks(decisions, moments) {
    const { paper, colours } = this;
    const y = this.height - 10;
    paper.fillStyle = colours.muted;
    const from = stepAt(moments, this.end - this.span);
    paper.globalAlpha = 0.5;
    for (let index = from; index < moments.length && moments[index].at < this.end; index += 1) {
      const x = this.xAt(moments[index].at);
      if (x >= NAMES && causeOf(moments[index]) !== "PlaybackProgressed") paper.fillRect(x, y - 4, 1, 8);
    }
    paper.globalAlpha = 1;
    for (const { at, decision } of decisions) {
      const x = this.xAt(at);
      if (x < NAMES || x > this.width) continue;
      paper.fillStyle = colours[{ end_of_turn: "teal", barge_in: "red", resume: "violet" }[decision] ?? "quiet"];
      paper.beginPath();
      paper.arc(x, y, 4, 0, Math.PI * 2);
      paper.fill();
    }
  }

  names() {
    const { paper, colours } = this;
    paper.fillStyle = colours.paper;
    paper.fillRect(0, 0, NAMES, this.height);
    LANES.forEach((lane, index) => {
      paper.fillStyle = index ? colours.ink : colours.muted;
      paper.font = `${index ? 600 : 400} 12.5px ${this.font}`;
      paper.fillText(lane, 18, TOP + index * LANE + (index ? 6 : 0) + LANE / 2);
    });
    paper.fillStyle = colours.rim;
    paper.fillRect(NAMES, 0, 1, this.height);
  }

  cursor(time) {
    const x = Math.round(this.xAt(time));
    if (x < NAMES) return;
    this.paper.fillStyle = this.colours.ink;
    this.paper.fillRect(x, TOP - 8, 1.5, this.height - TOP + 8);
    this.paper.beginPath();
    this.paper.arc(x + 0.75, TOP - 8, 4, 0, Math.PI * 2);
    this.paper.fill();
  }

  get font() {
    return (this.family ??= getComputedStyle(this.canvas).fontFamily);
  }
}

function readColours(canvas) {
  const probe = document.createElement("i");
  canvas.after(probe);
  const found = HUES.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(found);
}

export function clock(ms, fine = false) {
  const seconds = Math.max(0, ms) / 1000;
  const rest = fine ? (seconds % 60).toFixed(1).padStart(4, "0") : String(Math.floor(seconds % 60)).padStart(2, "0");
  return `${Math.floor(seconds / 60)}:${rest}`;
}

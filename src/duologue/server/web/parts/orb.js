// The picture of the two voices: a disc for the user and one for the agent. The speaker is large and in front.
//
// Springs move the discs towards the pose of the state; the levels of microphone and player move them too. Rule: the
// picture shows nothing that the label doesn't say. With reduced motion the poses change without movement.

import { isLive, phaseOf } from "../client/model/model.js";
import { MOVING_MS, paced, STILL_MS } from "./pace.js";
import { POSES } from "./poses.js";
import { loudness } from "./meter.js";
import { isDeaf } from "./status.js";

const POINTS = 96;
const STIFFNESS = 90;
const DAMPING = 15;
const FRAMES_HZ = 60; // the rates of levels are meant for so many frames

export function orb({ microphone, player, root = document }) {
  const canvas = root.getElementById("orb");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const body = new Body(canvas);
  let model = null;
  let last = 0;
  const wake = paced((now) => {
    const seconds = Math.min(0.2, (now - last) / 1000 || 0.016);
    last = now;
    if (!model) return null;
    const levels = {
      person: microphone.isOpen ? loudness(microphone.level) : 0,
      agent: loudness(player.level),
    };
    body.step(seconds, poseOf(model), levels, still.matches);
    // At rest the picture only breathes and follows the levels, so half the frames are enough. With reduced motion it
    // doesn't breathe: it is drawn when a level has changed.
    if (body.moves || !still.matches) body.draw(now / 1000, still.matches);
    if (still.matches) return STILL_MS;
    return body.springs ? 0 : MOVING_MS;
  });
  document.addEventListener("duologue.theme", () => body.readColours());
  new ResizeObserver(() => {
    body.resize();
    wake();
  }).observe(canvas);
  return (next) => {
    model = next;
    wake();
  };
}

function poseOf(model) {
  const { state, connection, talking } = model;
  if (connection.phase === "refused" || connection.phase === "lost") return POSES.away;
  if (connection.phase === "waiting") return POSES.away;
  if (isLive(model) && isDeaf(model)) return POSES[`hearing_${model.status.hearing}`];
  if (talking && state.phase === "speaking") return POSES.both;
  return POSES[phaseOf(model)] ?? POSES.idle;
}

class Body {
  constructor(canvas) {
    this.canvas = canvas;
    this.paper = canvas.getContext("2d");
    this.values = { ...POSES.idle };
    this.speeds = Object.fromEntries(Object.keys(this.values).map((name) => [name, 0]));
    this.person = 0;
    this.agent = 0;
    this.readColours();
    this.resize();
  }

  readColours() {
    const probe = document.createElement("i");
    this.canvas.after(probe);
    const read = (name) => {
      probe.style.color = `var(--${name})`;
      return getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
    };
    const names = ["teal", "violet", "amber", "rose", "blue", "red", "quiet"];
    this.colours = Object.fromEntries(names.map((name) => [name, read(`orb-${name}`)]));
    probe.remove();
    this.night = this.colours.quiet[0] < 128;
    this.stale = true;
  }

  resize() {
    const ratio = Math.min(3, devicePixelRatio || 1);
    const size = this.canvas.clientWidth;
    const pixels = Math.max(1, Math.round(size * ratio));
    if (this.canvas.width !== pixels) this.canvas.width = this.canvas.height = pixels;
    this.stale = true;
  }

  step(seconds, pose, levels, still) {
    const before = this.weight();
    const springSeconds = Math.min(0.05, seconds);
    this.springs = false;
    for (const [name, target] of Object.entries(pose)) {
      if (still) {
        this.values[name] = target;
        continue;
      }
      const pull = STIFFNESS * (target - this.values[name]) - DAMPING * this.speeds[name];
      this.speeds[name] += pull * springSeconds;
      this.values[name] += this.speeds[name] * springSeconds;
      if (Math.abs(this.speeds[name]) > 0.01) this.springs = true;
    }
    for (const who of ["person", "agent"]) {
      const rate = levels[who] > this[who] ? 0.5 : 0.12;
      this[who] += (levels[who] - this[who]) * (1 - (1 - rate) ** (seconds * FRAMES_HZ));
    }
    this.moves = this.stale || Math.abs(this.weight() - before) > 0.0005;
  }

  /** A number that changes whenever the picture changes. */
  weight() {
    return Object.values(this.values).reduce((sum, value, index) => sum + value * (1 + index * 0.1), this.person + this.agent * 1.3);
  }

  draw(time, still) {
    const { paper, canvas, values: v } = this;
    const unit = canvas.width / 2;
    this.stale = false;
    paper.setTransform(unit, 0, 0, unit, unit, unit);
    paper.clearRect(-1, -1, 2, 2);
    const breath = still ? 0 : Math.sin(time * 1.3) * 0.012 * v.breath;
    const person = this.mixed("teal", v);
    const agent = this.mixed("violet", v);
    const discs = [
      { x: -v.personX, r: v.personR + breath + this.person * 0.07 * v.personFill, fill: v.personFill, colour: person, level: this.person, turn: 0 },
      { x: v.agentX, r: v.agentR - breath + this.agent * 0.09 * v.agentFill, fill: v.agentFill, colour: agent, level: this.agent, turn: 2 },
    ].sort((one, other) => one.r - other.r);
    for (const disc of discs) this.halo(disc);
    for (const disc of discs) this.disc(disc, time, still, v);
    if (v.ring > 0.01) this.ring(time, still, v);
    if (v.bars > 0.01) this.bars(v);
    if (v.slash > 0.01) this.slash(v);
  }

  /** The colour of a voice, or of the state if that is more important. */
  mixed(name, v) {
    const parts = [["amber", v.amber], ["rose", v.rose], ["blue", v.blue], ["red", v.red], ["quiet", v.quiet]];
    let colour = this.colours[name];
    for (const [other, part] of parts) {
      const p = Math.max(0, Math.min(1, part));
      colour = colour.map((value, index) => value * (1 - p) + this.colours[other][index] * p);
    }
    return colour;
  }

  halo({ x, r, fill, colour, level }) {
    const { paper } = this;
    const reach = Math.min(0.99 - Math.abs(x), r * (1.35 + level * 0.3)); // so that the picture's edge cuts nothing off
    if (reach <= r * 0.7) return;
    const glow = paper.createRadialGradient(x, 0, r * 0.7, x, 0, reach);
    glow.addColorStop(0, rgba(colour, (this.night ? 0.3 : 0.2) * fill * (0.55 + level)));
    glow.addColorStop(1, rgba(colour, 0));
    paper.fillStyle = glow;
    paper.beginPath();
    paper.arc(x, 0, reach, 0, Math.PI * 2);
    paper.fill();
  }

  disc({ x, r, fill, colour, level, turn }, time, still, v) {
    const { paper, night } = this;
    this.outline(x, r, still ? 0 : level * 0.034 * fill + 0.004 * v.breath, time * 1.1 + turn);
    const shade = paper.createRadialGradient(x - r * 0.35, -r * 0.45, r * 0.1, x, 0, r * 1.15);
    shade.addColorStop(0, rgba(lighter(colour, night ? 0.22 : 0.34), fill));
    shade.addColorStop(1, rgba(colour, fill));
    paper.globalCompositeOperation = night ? "lighten" : "multiply";
    paper.fillStyle = shade;
    paper.fill();
    paper.globalCompositeOperation = "source-over";
    paper.lineWidth = 0.008;
    paper.strokeStyle = rgba(colour, 0.35 + 0.4 * (1 - fill));
    paper.stroke();
  }

  outline(x, r, amount, time) {
    const { paper } = this;
    paper.beginPath();
    for (let point = 0; point <= POINTS; point += 1) {
      const angle = (point / POINTS) * Math.PI * 2;
      const wave = Math.sin(angle * 4 + time * 2.6) * 0.5 + Math.sin(angle * 3 - time * 1.9) * 0.4 + Math.sin(angle * 7 + time * 4.1) * 0.25;
      const radius = r * (1 + amount * wave);
      paper.lineTo(x + Math.cos(angle) * radius, Math.sin(angle) * radius);
    }
    paper.closePath();
  }

  /** Silent activity: an arc that rotates. */
  ring(time, still, v) {
    const { paper } = this;
    const from = still ? -Math.PI / 2 : time * 1.9;
    const colour = this.mixed("blue", { ...v, blue: 0 });
    paper.lineCap = "round";
    paper.lineWidth = 0.022;
    paper.strokeStyle = rgba(colour, 0.16 * v.ring);
    paper.beginPath();
    paper.arc(0, 0, 0.76, 0, Math.PI * 2);
    paper.stroke();
    paper.strokeStyle = rgba(colour, 0.9 * v.ring);
    paper.beginPath();
    paper.arc(0, 0, 0.76, from, from + 1.1 + (still ? 0 : Math.sin(time * 1.2) * 0.5));
    paper.stroke();
  }

  /** A line through the user's disc: they aren't heard. */
  slash(v) {
    const { paper } = this;
    const reach = v.personR * 0.62;
    paper.lineCap = "round";
    for (const [width, colour] of [[0.085, this.night ? [11, 14, 19] : [244, 245, 247]], [0.035, this.night ? [235, 240, 245] : [50, 58, 68]]]) {
      paper.lineWidth = width;
      paper.strokeStyle = rgba(colour, v.slash);
      paper.beginPath();
      paper.moveTo(-v.personX - reach, -reach);
      paper.lineTo(-v.personX + reach, reach);
      paper.stroke();
    }
  }

  bars(v) {
    const { paper } = this;
    paper.fillStyle = rgba(this.night ? [235, 240, 245] : [50, 58, 68], 0.75 * v.bars);
    for (const x of [-0.11, 0.05]) {
      paper.beginPath();
      paper.roundRect(x, -0.15, 0.06, 0.3, 0.03);
      paper.fill();
    }
  }
}

function rgba([red, green, blue], alpha) {
  return `rgba(${Math.round(red)}, ${Math.round(green)}, ${Math.round(blue)}, ${Math.max(0, Math.min(1, alpha)).toFixed(3)})`;
}

function lighter(colour, part) {
  return colour.map((value) => value + (255 - value) * part);
}

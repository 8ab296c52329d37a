"""The script of the page. It zooms the drawing and moves a cursor, which shows the state at a time and the rows that
fired.

The page is readable without the script. Rule: the script inserts text as text, never as markup.
"""

from __future__ import annotations

SCRIPT = """
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const call = JSON.parse(byId("call").textContent);
  const { length, chips, states, rows, instants } = call;
  const strip = byId("strip"), scroller = byId("scroller"), line = byId("line");
  const cells = [...document.querySelectorAll("#now [data-lane] dd")];
  const times = [...document.querySelectorAll("td[data-at]")];
  const rowsAt = new Map();
  for (const cell of times) {
    const at = Number(cell.dataset.at);
    rowsAt.set(at, [...(rowsAt.get(at) || []), cell.parentElement]);
  }
  let zoom = 1, kept = instants.length - 1, here = -1;
  document.documentElement.classList.add("live");

  const make = (name, text, look) => {
    const element = document.createElement(name);
    element.textContent = text;
    if (look) element.className = look;
    return element;
  };
  const clock = (ms) => {
    const two = (n, width) => String(n).padStart(width, "0");
    return `${Math.floor(ms / 60000)}:${two(Math.floor(ms / 1000) % 60, 2)}.${two(Math.round(ms) % 1000, 3)}`;
  };

  // -- The cursor

  const indexAt = (ms) => {
    let low = 0, high = instants.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (instants[middle][0] <= ms) low = middle; else high = middle - 1;
    }
    return low;
  };
  const show = (index, ms) => {
    const [at, state, heard, steps] = instants[index];
    line.hidden = false;
    line.style.left = `${100 * ms / length}%`;
    byId("at").firstElementChild.textContent = clock(ms);
    const past = Math.round(ms - at);
    const since = past < 1 ? "at" : past < 1000 ? `${past} ms after` : `${(past / 1000).toFixed(2)} s after`;
    byId("when").textContent = `${since} ${steps.map((step) => step[0]).join(" + ")}`;
    cells.forEach((cell, lane) => {
      const [text, look] = chips[states[state][lane]];
      cell.replaceChildren(make("span", text, `chip ${look}`));
      if (cell.parentElement.dataset.lane === "voice" && heard) cell.append(make("small", ` heard ${heard} ms`));
    });
    byId("fired").replaceChildren(...steps.map(stepItem));
    for (const cell of rowsAt.get(here) || []) cell.classList.remove("here");
    for (const cell of rowsAt.get(at) || []) cell.classList.add("here");
    here = at;
  };
  const stepItem = ([cause, fired, done]) => {
    const item = make("li", "");
    item.append(make("b", cause), make("span", done && `  ${done}`));
    if (!fired.length) item.append(make("code", "ignored: stale, repeated, or no row for it in this state"));
    for (const number of fired) {
      const [text, does, why] = rows[number];
      const code = make("code", text);
      code.append(make("em", [does, why].filter(Boolean).map((part) => `  ${part}`).join("")));
      item.append(code);
    }
    return item;
  };
  const keep = (index) => {
    kept = Math.max(0, Math.min(instants.length - 1, index));
    show(kept, instants[kept][0]);
  };
  const reveal = () => {
    const x = instants[kept][0] / length * strip.clientWidth;
    const { scrollLeft, clientWidth } = scroller;
    if (x < scrollLeft + 20 || x > scrollLeft + clientWidth - 20) scroller.scrollLeft = x - clientWidth / 2;
  };
  const timeOf = (event) => {
    const box = strip.getBoundingClientRect();
    return Math.max(0, Math.min(length, (event.clientX - box.left) / box.width * length));
  };
  scroller.addEventListener("pointermove", (event) => {
    const ms = timeOf(event);
    show(indexAt(ms), ms);
  });
  scroller.addEventListener("pointerleave", () => show(kept, instants[kept][0]));
  scroller.addEventListener("click", (event) => keep(indexAt(timeOf(event))));
  for (const cell of times) {
    cell.parentElement.addEventListener("click", (event) => {
      if (event.target.closest("a")) return;
      keep(indexAt(Number(cell.dataset.at)));
      reveal();
    });
  }

  // -- Zoom

  const most = () => Math.max(1, length / 1000 * call.px / scroller.clientWidth);
  const zoomTo = (wanted, part = 0.5) => {
    const middle = (scroller.scrollLeft + part * scroller.clientWidth) / strip.clientWidth;
    zoom = Math.max(1, Math.min(most(), wanted));
    strip.style.setProperty("--zoom", zoom);
    scroller.scrollLeft = middle * strip.clientWidth - part * scroller.clientWidth;
    byId("zoom").textContent = `${zoom < 10 ? Math.round(zoom * 10) / 10 : Math.round(zoom)}\\u00d7`;
  };
  const STEPS = { in: () => zoom * 1.6, out: () => zoom / 1.6, fit: () => 1 };
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => { zoomTo(STEPS[button.dataset.zoom]()); });
  }
  scroller.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey) return;
    event.preventDefault();
    const box = scroller.getBoundingClientRect();
    zoomTo(zoom * Math.exp(-event.deltaY / 300), (event.clientX - box.left) / box.width);
  }, { passive: false });
  const KEYS = {
    ArrowLeft: () => { keep(kept - 1); reveal(); },
    ArrowRight: () => { keep(kept + 1); reveal(); },
    Home: () => { keep(0); reveal(); },
    End: () => { keep(instants.length - 1); reveal(); },
    "+": () => zoomTo(STEPS.in()), "=": () => zoomTo(STEPS.in()), "-": () => zoomTo(STEPS.out()),
    "0": () => zoomTo(1),
  };
  scroller.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  addEventListener("resize", () => zoomTo(zoom));

  // -- The recording

  const sound = document.querySelector("audio");
  if (sound) {
    const offset = Number(sound.dataset.offset);
    const follow = () => {
      const ms = Math.max(0, Math.min(length, sound.currentTime * 1000 + offset));
      kept = indexAt(ms);
      show(kept, ms);
      reveal();
      if (!sound.paused && !sound.ended) requestAnimationFrame(follow);
    };
    sound.addEventListener("play", follow);
    sound.addEventListener("seeked", follow);
    scroller.addEventListener("click", (event) => {
      sound.currentTime = Math.max(0, (timeOf(event) - offset) / 1000);
    });
  }
  keep(kept);
})();
"""

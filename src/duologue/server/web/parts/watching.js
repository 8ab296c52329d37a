// The banner over a watched call: which call, and the button to stop watching.
//
// Rule: a watcher always sees that they are watching, and has no control that would act on the call.

import { icon, make, set, show, write } from "../dom.js";
import { isLive, isWatching } from "../client/model/model.js";
import { watching } from "../watching.js";

const TITLES = { phone: "watchingPhone", browser: "watchingBrowser" };

export function watchBanner({ text, act, language }) {
  const banner = document.getElementById("watching");
  const cards = document.getElementById("cards");
  const skip = document.querySelector(".skip");
  const title = make("strong");
  const details = make("span");
  const back = make("button.small", { type: "button", onclick: () => act.unwatch() }, icon("back"), text("stopWatching"));
  banner.append(icon("eye"), make("p", { role: "status" }, title, " ", details), back);
  return watching(["conversation", "ended", "watched"], (model) => {
    const on = isWatching(model);
    const watched = !on && isLive(model) && model.watched > 0;
    show(banner, on || watched);
    show(back, on);
    show(skip, !on); // a watched call has no text box
    set(cards, "tabindex", on ? "0" : null); // focusable, so that they can be scrolled with the keyboard
    document.body.dataset.watching = String(on);
    if (watched) {
      banner.dataset.over = "false";
      write(title, text("beingWatched"));
      write(details, "");
    }
    if (!on) return;
    const { line, agent, since, private: hidden } = model.conversation;
    banner.dataset.over = String(!isLive(model));
    write(title, isLive(model) ? text(TITLES[line] ?? "watchingCall") : text("watchedOver"));
    const told = [agent, text("since", { time: timeOf(since, language) }), hidden ? text("wordsPrivate") : ""];
    write(details, told.filter(Boolean).join(" · "));
  });
}

/** The time of day. */
export function timeOf(since, language) {
  return new Date(since).toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" });
}
